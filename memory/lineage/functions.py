"""Functions that the store runs itself, each at a version: equal sources give equal texts, whoever asks and when.

A version that was ever released never changes its texts; another rule is another version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memory.lineage.kernel import SEPARATOR, joined


def concatenated(texts: Sequence[str]) -> str:
    """The texts whole, in the order of the sources."""
    return SEPARATOR.join(texts)


# Function and version: what it does with the texts of the sources, in the order of their naming.
BUILT_IN: Mapping[tuple[str, str], Callable[[Sequence[str]], str]] = {
    ("concatenate", "1"): concatenated,
    ("merge", "1"): joined,
}
BUILT_IN_NAMES = frozenset(name for name, _ in BUILT_IN)
