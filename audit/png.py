"""Pictures of pages in few bytes: PNG files of 24 or 32 bits a pixel written anew with a palette.

Invariants
- A picture of at most 256 colours comes out as it went in, pixel by pixel.
- Of more colours those stay whose loss would be seen most, by number and distance: a small green mark on a large white
  page stays green. Each of the others becomes the nearest of those.
- The same picture gives the same bytes.

Source: PNG Specification, third edition (W3C), sections 7, 9, 11 and 12.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
BYTES_OF_A_PIXEL = {2: 3, 6: 4}
MOST_COLOURS = 256

Colour = tuple[int, int, int]


class UnreadablePicture(ValueError):
    """Not a PNG file of the kinds that a browser writes."""


@dataclass(frozen=True, slots=True)
class Pixels:
    """An opaque picture.   rows : (height, width) of colours, from the top."""

    width: int
    height: int
    rows: tuple[tuple[Colour, ...], ...]


def read(picture: bytes) -> Pixels:
    """The pixels of a PNG file of 8 bits a channel without interlace; alpha is left out.   Raises UnreadablePicture."""
    if not picture.startswith(SIGNATURE):
        raise UnreadablePicture("It does not begin as a PNG file does.")
    chunks = list(_chunks(picture))
    width, height, depth, kind, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth != 8 or interlace or kind not in BYTES_OF_A_PIXEL:
        raise UnreadablePicture(f"Colour type {kind} of {depth} bits, interlace {interlace}, is not read.")
    size = BYTES_OF_A_PIXEL[kind]
    data = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    rows = []
    before = bytes(width * size)
    for y in range(height):
        begin = y * (width * size + 1)
        before = _unfiltered(data[begin], data[begin + 1 : begin + 1 + width * size], before, size)
        rows.append(tuple((before[at], before[at + 1], before[at + 2]) for at in range(0, width * size, size)))
    return Pixels(width, height, tuple(rows))


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(picture):
        length, name = struct.unpack_from(">I4s", picture, at)
        yield name, picture[at + 8 : at + 8 + length]
        at += 12 + length


def _unfiltered(kind: int, line: bytes, before: bytes, size: int) -> bytes:
    """A row as it was before the filter; `before` is the row above, `size` the bytes of a pixel."""
    if kind == 0:
        return line
    found = bytearray(line)
    for at, value in enumerate(line):
        left = found[at - size] if at >= size else 0
        above = before[at]
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above
        elif kind == 3:
            guess = (left + above) // 2
        else:
            guess = _paeth(left, above, before[at - size] if at >= size else 0)
        found[at] = (value + guess) & 0xFF
    return bytes(found)


def _paeth(left: int, above: int, corner: int) -> int:
    """Of the three the one that is nearest to left + above - corner."""
    to_left, to_above, to_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner


def with_palette(picture: bytes) -> bytes:
    """The PNG file with a palette.   Raises UnreadablePicture."""
    pixels = read(picture)
    uses = Counter(colour for row in pixels.rows for colour in row)
    palette, places = _chosen(uses)
    data = b"".join(b"\0" + bytes(places[colour] for colour in row) for row in pixels.rows)
    header = struct.pack(">IIBBBBB", pixels.width, pixels.height, 8, 3, 0, 0, 0)
    return b"".join(
        (
            SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", b"".join(bytes(colour) for colour in palette)),
            _chunk(b"IDAT", zlib.compress(data, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chosen(uses: Mapping[Colour, int]) -> tuple[list[Colour], Mapping[Colour, int]]:
    """(the palette, the place of each colour in it): one colour after another, each time where the error is largest."""
    # Equal errors in the order of the colours, so that the same picture gives the same palette.
    errors = dict.fromkeys(sorted(uses), 4 * 256**2)
    places: dict[Colour, int] = {}
    palette: list[Colour] = []
    while len(palette) < MOST_COLOURS and any(errors.values()):
        chosen = max(errors, key=lambda colour: uses[colour] * errors[colour])
        for colour in errors:
            distance = _distance(chosen, colour)
            if distance < errors[colour]:
                errors[colour], places[colour] = distance, len(palette)
        palette.append(chosen)
    return palette, places


def _distance(one: Colour, other: Colour) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
