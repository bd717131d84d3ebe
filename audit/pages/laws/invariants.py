"""Every invariant that the board lists: the laws of the store, and what holds the log and the derived tables together.

Invariants
- An invariant that has never run is listed like any other.
- A check that has run and is not described here is listed by its name, so that nothing that ran is out of sight.
"""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from audit.laws.clauses import LAWS, Clause
from audit.laws.ours_ends import Ends
from audit.laws.ours_lineage import Lineage
from audit.laws.ours_records import Records
from audit.laws.ours_rules import Times, Types
from audit.laws.values import ClauseName
from memory.checks import ledger_scan, rebuilding
from memory.ledger.queries import scanning

CODE: dict[ClauseName, Any] = {
    "L1": Records, "L2": Lineage, "L3": Lineage, "L4i": Records, "L4ii": Ends, "L5": Types, "L6": Times, "L7": Ends,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Invariant:
    """One invariant as people read it.

    name : of its check.   here : why it holds by construction.   planted : the fault by which its check is tried.
    command : what runs it, where no page does.   law : what else is told of it, for a law of the store.
    """

    name: str
    title: str
    family: str
    statement: str
    matters: str
    decided: str
    here: str
    planted: str
    code: Any = None
    command: str = ""
    law: Clause | None = None


def _law(law: Clause) -> Invariant:
    return Invariant(
        law.name, law.title, law.family, law.statement, law.matters, law.decided, law.here, law.planted,
        code=CODE[law.clause], law=law,
    )  # fmt: skip


INVARIANTS = (
    *(_law(law) for law in LAWS),
    Invariant(
        ledger_scan.NAME,
        "The log is what it was when it was written",
        "ledger",
        "Every text and row equals what its item committed to, every item stands in its entry, every entry in the tree "
        "and in each checkpoint, and the log begins with any checkpoint that was kept.",
        "Whoever owns the server could rewrite the past; this is how that is noticed.",
        "By hashing everything again and believing nothing that is stored.",
        "Entries are only appended; triggers refuse update and delete; checkpoints are signed.",
        "A text is overwritten, a node of the tree changed, an entry taken out, with the triggers lifted.",
        code=scanning,
    ),
    Invariant(
        rebuilding.NAME,
        "What is derived equals what it is derived from",
        "derived tables",
        "Every row of every derived table is what a fresh derivation from entries and texts gives.",
        "Lists, counts and recall read derived tables; one that has drifted answers with what was never recorded.",
        "By deriving all of them anew in one transaction, comparing every row, and rolling it back.",
        "A derived table is written in the transaction of its entry, and never from a clock.",
        "A derived row is changed, deleted or invented.",
        code=rebuilding,
        command="manage.py rebuild --check",
    ),
)
BY_NAME = {invariant.name: invariant for invariant in INVARIANTS}


def listed(names: Iterable[str]) -> tuple[Invariant, ...]:
    """All invariants, and after them the checks among the names that nothing here describes."""
    others = sorted(set(names) - BY_NAME.keys())
    return (*INVARIANTS, *(_undescribed(name) for name in others))


def _undescribed(name: str) -> Invariant:
    told = "Nothing more is told of this check; its runs are kept like those of any other."
    return Invariant(name, f"Check: {name}", "other", told, "", "", "", "")


@cache
def code_of(name: str) -> str:
    """The source of the check, as it runs; "" where none is shown."""
    invariant = BY_NAME.get(name)
    return inspect.getsource(invariant.code) if invariant is not None and invariant.code is not None else ""
