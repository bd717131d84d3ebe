"""The pictures of README: in few bytes without a change that is seen, and refused where they cannot be taken."""

from __future__ import annotations

import base64
import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page

from audit import png
from audit.pictures import MOST_BYTES, PICTURES
from tests.browser.visits import Visits

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
FOLDER = ROOT / ".github" / "pictures"

GREEN = b"\x18\x79\x4e"
SIDES = st.integers(1, 6)


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def filtered(kind: int, line: bytes, before: bytes, size: int) -> bytes:
    """A row as a writer of PNG files filters it, from the words of the specification."""
    out = bytearray()
    for at, value in enumerate(line):
        a, b, c = line[at - size] if at >= size else 0, before[at], before[at - size] if at >= size else 0
        estimate = a + b - c
        nearest = min((abs(estimate - a), 0, a), (abs(estimate - b), 1, b), (abs(estimate - c), 2, c))[2]
        out.append((value - (0, a, b, (a + b) >> 1, nearest)[kind]) % 256)
    return bytes(out)


def written(lines: Sequence[bytes], *, size: int, filters: Sequence[int], n_parts: int = 1) -> bytes:
    """A PNG file of these rows, its data in so many chunks."""
    width = len(lines[0]) // size
    before = bytes(len(lines[0]))
    data = b""
    for kind, line in zip(filters, lines, strict=True):
        data += bytes([kind]) + filtered(kind, line, before, size)
        before = line
    packed = zlib.compress(data)
    step = -(-len(packed) // n_parts)
    parts = [chunk(b"IDAT", packed[at : at + step]) for at in range(0, len(packed), step)]
    header = struct.pack(">IIBBBBB", width, len(lines), 8, {3: 2, 4: 6}[size], 0, 0, 0)
    return b"".join((png.SIGNATURE, chunk(b"IHDR", header), chunk(b"tEXt", b"a\0b"), *parts, chunk(b"IEND", b"")))


@given(st.data(), SIDES, SIDES, st.sampled_from([3, 4]), st.integers(1, 3))
def test_every_filter_is_undone(data: st.DataObject, width: int, height: int, size: int, n_parts: int) -> None:
    row = st.binary(min_size=width * size, max_size=width * size)
    lines = data.draw(st.lists(row, min_size=height, max_size=height))
    filters = data.draw(st.lists(st.integers(0, 4), min_size=height, max_size=height))
    read = png.read(written(lines, size=size, filters=filters, n_parts=n_parts))
    assert (read.width, read.height) == (width, height)
    assert [[bytes(colour) for colour in line] for line in read.rows] == [
        [line[at : at + 3] for at in range(0, len(line), size)] for line in lines
    ]


@pytest.mark.parametrize(
    "picture", [b"", b"GIF89a", png.SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0))]
)
def test_other_files_are_refused(picture: bytes) -> None:
    with pytest.raises(png.UnreadablePicture):
        png.with_palette(picture)


def colours_in(page: Page, picture: bytes) -> list[list[int]]:
    """The picture as a browser reads it: one list for each pixel."""
    return list(
        page.evaluate(
            """async (source) => {
                const bitmap = await createImageBitmap(await (await fetch(source)).blob());
                const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
                const paper = canvas.getContext("2d");
                paper.drawImage(bitmap, 0, 0);
                const { data } = paper.getImageData(0, 0, bitmap.width, bitmap.height);
                return Array.from({ length: data.length / 4 }, (_, at) => [...data.slice(4 * at, 4 * at + 4)]);
            }""",
            f"data:image/png;base64,{base64.b64encode(picture).decode()}",
        )
    )


@pytest.mark.browser
def test_a_browser_reads_few_colours_as_they_were_and_many_nearly_so(visits: Visits) -> None:
    page = visits.open()
    few = written([bytes(range(48)), bytes(range(48, 96))], size=3, filters=[1, 4])
    assert colours_in(page, png.with_palette(few)) == colours_in(page, few)

    # Hundreds of colours that are near each other, and one green mark that only its distance saves.
    near = [bytes((7 * (33 * y + x // 3) + (x % 3) * (y % 4)) % 256 for x in range(99)) for y in range(33)]
    near[16] = GREEN + near[16][3:]
    many = written(near, size=3, filters=[0] * 33)
    before, after = colours_in(page, many), colours_in(page, png.with_palette(many))
    assert len({tuple(colour) for colour in before}) > png.MOST_COLOURS
    assert after[16 * 33] == [0x18, 0x79, 0x4E, 255]
    assert (
        max(abs(a - b) for one, other in zip(before, after, strict=True) for a, b in zip(one, other, strict=True)) < 8
    )


def test_without_a_browser_the_command_says_what_it_needs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "screenshots", "--folder", str(tmp_path / "none")],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Pictures need a browser" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "none").exists()


def test_readme_shows_pictures_that_exist_with_words_for_who_does_not_see_them() -> None:
    part = README.split("<!-- pictures -->")[1].split("<!-- /pictures -->")[0]
    shown = re.findall(r"!\[([^\]]*)\]\(\.github/pictures/([\w-]+)\.png\)", part)
    assert 3 <= len(shown) <= 8
    assert {name for _, name in shown} <= {picture.name for picture in PICTURES}
    assert all(len(words.split()) >= 4 for words, _ in shown)
    assert "manage.py screenshots" in part


def test_the_folder_holds_the_pictures_of_the_list_and_none_is_heavy() -> None:
    sizes = {path.stem: path.stat().st_size for path in FOLDER.glob("*")}
    assert sizes.keys() == {picture.name for picture in PICTURES}
    assert max(sizes.values()) < MOST_BYTES
