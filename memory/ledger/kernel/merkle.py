"""The Merkle tree of RFC 6962: roots, stored nodes, inclusion and consistency proofs.

Invariants
- A *node* `(level, index)` is the root over the leaves `[index * 2**level, (index + 1) * 2**level)`; only such complete
  subtrees are stored. They never change once their last leaf is there, so they are inserted with that leaf.
- A tree of n leaves is folded from its *peaks*, one node for each bit of n; a proof reads O(log n) nodes.
- Hashes are 32 bytes. Leaves are counted from 0. `fetch(level, index)` answers the hash of a stored node.
- A proof holds for one pair of size and root. An inclusion path alone does not bind the size, so take both from one
  signed checkpoint.

Source: RFC 6962 section 2.1; the verification loops are those of RFC 9162 sections 2.1.3.2 and 2.1.4.2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

Coordinate = tuple[int, int]
Fetch = Callable[[int, int], bytes]

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """SHA-256 of 0x00 and the data. Source: RFC 6962 2.1."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256 of 0x01, the left and the right hash, 32 bytes each. Source: RFC 6962 2.1."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def completed_nodes(index: int, leaf: bytes, fetch: Fetch) -> list[tuple[int, int, bytes]]:
    """Every node that leaf number `index` completes, from the leaf upwards, as (level, index, hash).

    index : >= 0, position of the leaf.   leaf : its hash.   fetch : asked for left siblings only, one for each node
    after the first (two nodes on average).   Raises ValueError if index < 0.

    >>> [node[:2] for node in completed_nodes(3, leaf_hash(b"d"), lambda level, index: EMPTY_ROOT)]
    [(0, 3), (1, 1), (2, 0)]
    """
    if index < 0:
        raise ValueError(f"a leaf is counted from 0, got {index}")
    nodes = [(0, index, leaf)]
    level, value = 0, leaf
    while index & 1:
        value = node_hash(fetch(level, index - 1), value)
        level, index = level + 1, index >> 1
        nodes.append((level, index, value))
    return nodes


def peaks(size: int) -> list[Coordinate]:
    """The complete subtrees that make up a tree of `size` leaves, left to right; none for an empty tree.

    Raises ValueError if size < 0.

    >>> peaks(7)
    [(2, 0), (1, 2), (0, 6)]
    """
    if size < 0:
        raise ValueError(f"a tree has 0 leaves or more, got {size}")
    return _range_peaks(0, size)


def root_from_peaks(hashes: Sequence[bytes]) -> bytes:
    """The root over adjoining complete subtrees, given left to right, largest first; EMPTY_ROOT for none."""
    if not hashes:
        return EMPTY_ROOT
    value = hashes[-1]
    for left in reversed(hashes[:-1]):
        value = node_hash(left, value)
    return value


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over (n,) leaf hashes held in memory; EMPTY_ROOT for n = 0. O(n)."""
    if not leaves:
        return EMPTY_ROOT
    level = leaves
    while len(level) > 1:
        level = _parents(level)
    return level[0]


def inclusion_nodes(index: int, size: int) -> list[list[Coordinate]]:
    """What an inclusion path reads: for each of its hashes, leaf end first, the nodes that fold to it.

    Raises ValueError unless 0 <= index < size.   Source: RFC 6962 2.1.1.

    >>> inclusion_nodes(2, 7)
    [[(0, 3)], [(1, 0)], [(1, 2), (0, 6)]]
    """
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size} leaves")
    siblings = []
    low, high = 0, size
    while high - low > 1:
        cut = low + _left_size(high - low)
        if index < cut:
            siblings.append(_range_peaks(cut, high))
            high = cut
        else:
            siblings.append(_range_peaks(low, cut))
            low = cut
    return siblings[::-1]


def consistency_nodes(old: int, new: int) -> list[list[Coordinate]]:
    """What a consistency path reads: for each of its hashes, the nodes that fold to it; nothing if old == new.

    Raises ValueError unless 1 <= old <= new.   Source: RFC 6962 2.1.2.

    >>> consistency_nodes(3, 7)
    [[(0, 2)], [(0, 3)], [(1, 0)], [(1, 2), (0, 6)]]
    """
    if not 1 <= old <= new:
        raise ValueError(f"consistency is from 1 or more leaves to no fewer, got {old} to {new}")
    siblings = []
    low, high, is_whole = 0, new, True
    while high != old:
        cut = low + _left_size(high - low)
        if old <= cut:
            siblings.append(_range_peaks(cut, high))
            high = cut
        else:
            siblings.append(_range_peaks(low, cut))
            low, is_whole = cut, False
    if not is_whole:
        siblings.append(_range_peaks(low, high))
    return siblings[::-1]


def inclusion_path(index: int, size: int, fetch: Fetch) -> list[bytes]:
    """The audit path of leaf `index` in the tree of the first `size` leaves, from stored nodes.

    Raises ValueError unless 0 <= index < size.   Source: RFC 6962 2.1.1.
    """
    return _fold(inclusion_nodes(index, size), fetch)


def consistency_path(old: int, new: int, fetch: Fetch) -> list[bytes]:
    """The proof that the tree of `new` leaves begins with the tree of `old` leaves, from stored nodes.

    Raises ValueError unless 1 <= old <= new.   Source: RFC 6962 2.1.2.
    """
    return _fold(consistency_nodes(old, new), fetch)


def inclusion_path_of(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The audit path of leaf `index` in the tree over (n,) leaf hashes held in memory. O(n).

    Raises ValueError unless 0 <= index < n.   Source: RFC 6962 2.1.1.
    """
    if not 0 <= index < len(leaves):
        raise ValueError(f"leaf {index} is not in a tree of {len(leaves)} leaves")
    path = []
    level = leaves
    while len(level) > 1:
        sibling = index ^ 1
        if sibling < len(level):
            path.append(level[sibling])
        level, index = _parents(level), index >> 1
    return path


def verify_inclusion(index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `path` leads from `leaf`, number `index` of `size` leaves, to `root`. False for any malformed proof.

    Source: RFC 9162 2.1.3.2.
    """
    if not 0 <= index < size or not _are_hashes((leaf, root, *path)):
        return False
    position, last, value = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if position & 1 or position == last:
            value = node_hash(sibling, value)
            position, last = _skip_absent_siblings(position, last)
        else:
            value = node_hash(value, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and value == root


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether `path` proves that the tree of (new, new_root) begins with that of (old, old_root). False if malformed.

    An empty old tree is a beginning of every tree and proves nothing, so old = 0 is refused.
    Source: RFC 9162 2.1.4.2.
    """
    if not 1 <= old <= new or not _are_hashes((old_root, new_root, *path)):
        return False
    if old == new:
        return not path and old_root == new_root
    # An old tree that is one complete subtree starts the walk itself and is left out of the path.
    steps = [old_root, *path] if old & (old - 1) == 0 else list(path)
    if not steps:
        return False
    position, last = old - 1, new - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    old_value = new_value = steps[0]
    for sibling in steps[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old_value = node_hash(sibling, old_value)
            new_value = node_hash(sibling, new_value)
            position, last = _skip_absent_siblings(position, last)
        else:
            new_value = node_hash(new_value, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and old_value == old_root and new_value == new_root


def _left_size(size: int) -> int:
    """Leaves of the left child of a tree of `size` >= 2: the largest power of two below it."""
    return 1 << ((size - 1).bit_length() - 1)


def _range_peaks(low: int, high: int) -> list[Coordinate]:
    """The complete subtrees of [low, high), where low is a multiple of the largest power of two in its length."""
    found = []
    while low < high:
        level = (high - low).bit_length() - 1
        found.append((level, low >> level))
        low += 1 << level
    return found


def _parents(level: Sequence[bytes]) -> list[bytes]:
    """The next level up; an odd last node moves up as it is, which gives the unbalanced tree of RFC 6962."""
    sha256 = hashlib.sha256
    pairs: Iterator[tuple[bytes, bytes]] = zip(level[::2], level[1::2], strict=False)
    above = [sha256(b"\x01" + left + right).digest() for left, right in pairs]
    if len(level) & 1:
        above.append(level[-1])
    return above


def _fold(groups: list[list[Coordinate]], fetch: Fetch) -> list[bytes]:
    return [root_from_peaks([fetch(level, index) for level, index in group]) for group in groups]


def _skip_absent_siblings(position: int, last: int) -> tuple[int, int]:
    """Climb past the levels where the last node has no sibling and moved up as it is."""
    while position and not position & 1:
        position, last = position >> 1, last >> 1
    return position, last


def _are_hashes(values: Sequence[bytes]) -> bool:
    return all(len(value) == HASH_BYTES for value in values)
