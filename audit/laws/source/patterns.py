"""Every pattern that a reading of source code looks for, by clause, and the reading itself.

Invariants
- A pattern found is a shape behind the clause, shown by file and line; one not found proves nothing.
- Where there is no source, every clause is skipped, and the report says why.

Source: laws of the store, section 2.2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from audit.laws.source import choices, derivations, tables
from audit.laws.source.trees import Module, Tree, read_tree
from audit.laws.source.values import ClauseReading, PatternReading, Place, SourceReport
from audit.laws.values import CLAUSE_NAMES, ClauseName

type InModule = Callable[[Module], Iterator[tuple[int, str]]]
type InTables = Callable[[tuple[tables.Table, ...]], Iterator[tuple[str, int, str]]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One shape: the clause that it stands behind, and what finds it, in one module or in all tables of the tree."""

    clause: ClauseName
    name: str
    sentence: str
    in_module: InModule | None = None
    in_tables: InTables | None = None

    def places(self, tree: Tree, declared: tuple[tables.Table, ...]) -> tuple[Place, ...]:
        """Where it stands, in the order of files and lines, each place once."""
        found: set[Place] = set()
        if self.in_module is not None:
            found = {Place(one.file, line, words) for one in tree.modules for line, words in self.in_module(one)}
        if self.in_tables is not None:
            found |= {Place(file, line, words) for file, line, words in self.in_tables(declared)}
        return tuple(sorted(found))


PATTERNS = (
    Pattern("L1", "record-changed", "A derivation assigns to a record that it has read.", derivations.changed_records),
    Pattern(
        "L2", "ancestry-written-twice",
        "Ancestry is written into the record and as an edge, and a failure of the second write is passed over.",
        derivations.double_writes,
    ),
    Pattern(
        "L2", "metadata-copied-whole",
        "A derived record is given all metadata of another, claims of ancestry among them.",
        derivations.copied_metadata,
    ),
    Pattern(
        "L3", "inverse-not-beside", "An edge of a derivation is written without its inverse beside it.",
        derivations.lonely_edges,
    ),
    Pattern(
        "L4i", "namespace-not-named", "A derived record takes a namespace that no argument names.",
        derivations.foreign_namespaces,
    ),
    Pattern(
        "L4ii", "first-arguments-namespace",
        "The result of several arguments takes the namespace of the first, and nothing compares them.",
        derivations.first_arguments_namespace,
    ),
    Pattern(
        "L5", "order-of-a-set", "A choice or a stored list hangs on the order of a set.", choices.choices_over_sets
    ),
    Pattern(
        "L5", "prefix-without-order", "An id is matched by how it begins, without an order, and one row is taken.",
        choices.prefix_matches,
    ),
    Pattern(
        "L6", "no-valid-time", "A table of memories has no column of valid time.", None, tables.without_valid_time
    ),
    Pattern(
        "L7", "no-foreign-key", "A table of edges does not tie its ends to what they join.", None,
        tables.without_foreign_keys,
    ),
    Pattern(
        "L7", "ends-not-looked-up", "Whoever writes an edge must ask for its ends to be looked up.",
        tables.unchecked_ends,
    ),
)  # fmt: skip


def read_source(folder: Path) -> SourceReport:
    """Look for every pattern in the Python files of a folder. Reads only; nothing found there is imported or run."""
    if not folder.is_dir():
        return _skipped(folder, "there is no such folder")
    tree = read_tree(folder)
    if not tree.modules:
        return _skipped(folder, "no Python file in it could be read", unread=tree.unread)
    declared = tables.tables(tree.modules)
    clauses = tuple(_clause(name, lambda one: one.places(tree, declared)) for name in CLAUSE_NAMES)
    return SourceReport(str(folder), len(tree.modules), clauses, unread=tree.unread)


def _clause(name: ClauseName, places: Callable[[Pattern], tuple[Place, ...]]) -> ClauseReading:
    patterns = tuple(
        PatternReading(name, one.name, one.sentence, places(one)) for one in PATTERNS if one.clause == name
    )  # fmt: skip
    is_found = any(pattern.places for pattern in patterns)
    return ClauseReading(name, "pattern found" if is_found else "not found", patterns)


def _skipped(folder: Path, refusal: str, *, unread: tuple[str, ...] = ()) -> SourceReport:
    clauses = tuple(replace(_clause(name, lambda _: ()), verdict="skipped") for name in CLAUSE_NAMES)
    return SourceReport(str(folder), 0, clauses, refusal, unread)
