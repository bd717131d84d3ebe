"""The tree of RFC 6962: public roots, every small proof against the recursive definition, every mutation refused."""

from __future__ import annotations

import doctest
import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ledger.kernel import merkle

# The inputs and roots that the Certificate Transparency implementations share.
REFERENCE_LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
REFERENCE_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LARGEST = 70
LEAVES = [merkle.leaf_hash(bytes([number])) for number in range(LARGEST)]


def recursive_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    cut = split(len(leaves))
    return hashlib.sha256(b"\x01" + recursive_root(leaves[:cut]) + recursive_root(leaves[cut:])).digest()


def recursive_path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """RFC 6962 2.1.1, word for word."""
    if len(leaves) == 1:
        return []
    cut = split(len(leaves))
    if index < cut:
        return [*recursive_path(index, leaves[:cut]), recursive_root(leaves[cut:])]
    return [*recursive_path(index - cut, leaves[cut:]), recursive_root(leaves[:cut])]


def recursive_consistency(old: int, leaves: Sequence[bytes], is_whole: bool = True) -> list[bytes]:
    """RFC 6962 2.1.2, word for word."""
    if old == len(leaves):
        return [] if is_whole else [recursive_root(leaves)]
    cut = split(len(leaves))
    if old <= cut:
        return [*recursive_consistency(old, leaves[:cut], is_whole), recursive_root(leaves[cut:])]
    return [*recursive_consistency(old - cut, leaves[cut:], False), recursive_root(leaves[:cut])]


def split(size: int) -> int:
    power = 1
    while power * 2 < size:
        power *= 2
    return power


class Store:
    """Stored nodes as a ledger keeps them: inserted once, with the leaf that completes them."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self.nodes: dict[tuple[int, int], bytes] = {}
        self.n_fetched = 0
        for index, leaf in enumerate(leaves):
            for level, position, value in merkle.completed_nodes(index, leaf, self.fetch):
                assert (level, position) not in self.nodes, "a node is stored once"
                self.nodes[level, position] = value
        self.n_fetched = 0

    def fetch(self, level: int, index: int) -> bytes:
        self.n_fetched += 1
        return self.nodes[level, index]


STORE = Store(LEAVES)
ROOTS = [recursive_root(LEAVES[:size]) for size in range(LARGEST + 1)]


def flipped(value: bytes, bit: int = 0) -> bytes:
    changed = bytearray(value)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def mutations(path: list[bytes]) -> list[list[bytes]]:
    """The path with one hash changed in its first, a middle and its last byte, dropped, doubled, swapped or cut."""
    changed = []
    for place in range(len(path)):
        before, value, after = path[:place], path[place], path[place + 1 :]
        changed += [[*before, flipped(value, bit), *after] for bit in (0, 131, 255)]
        changed += [[*before, *after], [*before, value, value, *after], [*before, value[:-1], *after]]
        changed += [[*before, value + b"\0", *after], [*before, bytes(32), *after]]
        if after and after[0] != value:
            changed.append([*before, after[0], value, *after[1:]])
    return [*changed, [*path, bytes(32)], [bytes(32), *path]]


def test_reference_roots_of_certificate_transparency_are_reproduced() -> None:
    leaves = [merkle.leaf_hash(bytes.fromhex(text)) for text in REFERENCE_LEAVES]
    store = Store(leaves)
    for size, expected in enumerate(REFERENCE_ROOTS, start=1):
        assert merkle.root(leaves[:size]).hex() == expected
        assert merkle.root_from_peaks([store.fetch(*peak) for peak in merkle.peaks(size)]).hex() == expected


def test_the_empty_tree_has_the_hash_of_nothing_as_root() -> None:
    expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert merkle.EMPTY_ROOT.hex() == expected
    assert merkle.root([]) == merkle.EMPTY_ROOT == merkle.root_from_peaks([])
    assert merkle.peaks(0) == []


def test_stored_peaks_and_leaves_in_memory_give_the_root_of_the_recursive_definition() -> None:
    for size in range(LARGEST + 1):
        assert merkle.root(LEAVES[:size]) == ROOTS[size]
        assert merkle.root_from_peaks([STORE.fetch(*peak) for peak in merkle.peaks(size)]) == ROOTS[size]


def test_stored_nodes_are_exactly_the_complete_subtrees() -> None:
    expected = {
        (level, index): recursive_root(LEAVES[index << level : (index + 1) << level])
        for level in range(LARGEST.bit_length())
        for index in range(LARGEST >> level)
    }
    assert STORE.nodes == expected


def test_every_inclusion_proof_is_that_of_the_definition_and_is_accepted() -> None:
    for size in range(1, LARGEST + 1):
        for index in range(size):
            path = merkle.inclusion_path(index, size, STORE.fetch)
            assert path == recursive_path(index, LEAVES[:size])
            assert path == merkle.inclusion_path_of(LEAVES[:size], index)
            assert merkle.verify_inclusion(index, size, LEAVES[index], path, ROOTS[size])


def test_every_consistency_proof_is_that_of_the_definition_and_is_accepted() -> None:
    for new in range(1, LARGEST + 1):
        for old in range(1, new + 1):
            path = merkle.consistency_path(old, new, STORE.fetch)
            assert path == recursive_consistency(old, LEAVES[:new])
            assert merkle.verify_consistency(old, new, ROOTS[old], ROOTS[new], path)


def test_every_mutated_inclusion_proof_is_refused() -> None:
    for size in range(1, 34):
        for index in range(size):
            path, leaf = merkle.inclusion_path(index, size, STORE.fetch), LEAVES[index]
            for bad in mutations(path):
                assert not merkle.verify_inclusion(index, size, leaf, bad, ROOTS[size])
            for other in (other for other in range(-1, size + 2) if other != index):
                assert not merkle.verify_inclusion(other, size, leaf, path, ROOTS[size])
            for other in (other for other in range(size + 9) if other != size):
                assert not merkle.verify_inclusion(index, other, leaf, path, ROOTS[other])
            assert not merkle.verify_inclusion(index, size, flipped(leaf), path, ROOTS[size])
            assert not merkle.verify_inclusion(index, size, leaf, path, flipped(ROOTS[size]))


def test_every_mutated_consistency_proof_is_refused() -> None:
    for new in range(1, 34):
        for old in range(1, new + 1):
            path = merkle.consistency_path(old, new, STORE.fetch)
            for bad in mutations(path):
                assert not merkle.verify_consistency(old, new, ROOTS[old], ROOTS[new], bad)
            for other in (other for other in range(new + 3) if other != old):
                assert not merkle.verify_consistency(other, new, ROOTS[other], ROOTS[new], path)
            for other in (other for other in range(new + 9) if other != new):
                assert not merkle.verify_consistency(old, other, ROOTS[old], ROOTS[other], path)
            assert not merkle.verify_consistency(old, new, flipped(ROOTS[old]), ROOTS[new], path)
            assert not merkle.verify_consistency(old, new, ROOTS[old], flipped(ROOTS[new]), path)


def test_a_proof_whose_bytes_move_between_two_hashes_is_refused() -> None:
    leaf, sibling = LEAVES[0] + LEAVES[1][:1], LEAVES[1][1:]
    assert merkle.node_hash(leaf, sibling) == ROOTS[2]
    assert not merkle.verify_inclusion(0, 2, leaf, [sibling], ROOTS[2])
    old_root, sibling = ROOTS[1] + LEAVES[1][:1], LEAVES[1][1:]
    assert not merkle.verify_consistency(1, 2, old_root, ROOTS[2], [sibling])


def test_a_forked_history_has_no_consistency_proof() -> None:
    forked = [*LEAVES[:20], flipped(LEAVES[20]), *LEAVES[21:40]]
    path = merkle.consistency_path(30, 40, Store(forked).fetch)
    assert not merkle.verify_consistency(30, 40, ROOTS[30], merkle.root(forked), path)


@given(size=st.integers(1, 3000), data=st.data())
def test_proofs_of_larger_trees_are_accepted_and_every_changed_bit_is_refused(size: int, data: st.DataObject) -> None:
    leaves = [merkle.leaf_hash(number.to_bytes(4, "big")) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    path, top = merkle.inclusion_path_of(leaves, index), merkle.root(leaves)
    assert merkle.verify_inclusion(index, size, leaves[index], path, top)
    if path:
        place, bit = data.draw(st.integers(0, len(path) - 1)), data.draw(st.integers(0, 255))
        bad = [*path[:place], flipped(path[place], bit), *path[place + 1 :]]
        assert not merkle.verify_inclusion(index, size, leaves[index], bad, top)


@given(size=st.integers(1, 2**40), data=st.data())
def test_a_proof_reads_a_number_of_nodes_that_grows_with_the_logarithm(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    depth = (size - 1).bit_length()
    paths = (merkle.inclusion_nodes(index, size), merkle.consistency_nodes(index + 1, size))
    for groups in paths:
        assert len(groups) <= depth + 1
        assert sum(len(group) for group in groups) <= 2 * depth + 1
        assert all((node + 1) << level <= size for group in groups for level, node in group), "only complete subtrees"
    assert len(merkle.peaks(size)) == size.bit_count()


def test_appending_fetches_one_left_sibling_for_each_node_above_the_leaf() -> None:
    store = Store(LEAVES)
    for index in range(LARGEST):
        store.n_fetched = 0
        nodes = merkle.completed_nodes(index, LEAVES[index], store.fetch)
        assert store.n_fetched == len(nodes) - 1 == (index ^ (index + 1)).bit_length() - 1


@pytest.mark.parametrize(
    ("index", "size"), [(0, 0), (-1, 3), (3, 3), (4, 3)], ids=["empty tree", "below zero", "one past", "two past"]
)
def test_a_leaf_outside_the_tree_has_no_path(index: int, size: int) -> None:
    with pytest.raises(ValueError, match=f"leaf {index} is not in a tree of {size} leaves"):
        merkle.inclusion_path(index, size, STORE.fetch)
    with pytest.raises(ValueError, match=f"leaf {index} is not in a tree of {size} leaves"):
        merkle.inclusion_path_of(LEAVES[:size], index)


@pytest.mark.parametrize(("old", "new"), [(0, 0), (0, 3), (4, 3), (-1, 3)])
def test_consistency_runs_from_a_tree_that_is_not_empty_to_one_no_smaller(old: int, new: int) -> None:
    with pytest.raises(ValueError, match=f"got {old} to {new}"):
        merkle.consistency_path(old, new, STORE.fetch)
    assert not merkle.verify_consistency(old, new, bytes(32), bytes(32), [])


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="counted from 0, got -1"):
        merkle.completed_nodes(-1, LEAVES[0], STORE.fetch)
    with pytest.raises(ValueError, match="0 leaves or more, got -1"):
        merkle.peaks(-1)


def test_the_examples_in_the_docstrings_hold() -> None:
    found = doctest.testmod(merkle)
    assert found.attempted > 0
    assert found.failed == 0
