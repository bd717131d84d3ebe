"""The eight clauses in words: what each says, why it matters, how it is decided, and what breaking it looks like.

Source: laws of the store, 2.1 and 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from audit.laws.values import ClauseName, Verdict

Family = Literal["structure", "redundancy", "locality", "time"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One law.

    name : of its check, as `POST /checks/{name}/run` takes it.   title : the law as a sentence for a newcomer.
    here : why our own store keeps it by construction.   planted : the fault by which its checker is tried.
    paper : what the paper reads in the source code of ContextFS 0.2.35, and `paper_because` why.
    """

    clause: ClauseName
    name: str
    title: str
    statement: str
    matters: str
    decided: str
    here: str
    planted: str
    family: Family
    paper: Verdict
    paper_because: str


LAWS: tuple[Clause, ...] = (
    Clause(
        clause="L1",
        name="law.L1",
        title="A record never changes and never goes",
        statement="For every derivation and fresh save, all records that were there are there afterwards, unchanged.",
        matters="What an agent was told must be what can be read today; else no decision can be traced to its grounds.",
        decided="By two snapshots, or by the log: every record that an entry wrote has its row, and the row still fits "
        "what the entry committed to. One snapshot alone shows indicators.",
        here="Rows are only inserted; triggers refuse update and delete. Erasing takes text and touches no row.",
        planted="A column of a record is overwritten, or its row deleted, with the triggers lifted.",
        family="structure",
        paper="holds",
        paper_because="Derivations build new objects and never assign to retrieved ones.",
    ),
    Clause(
        clause="L2",
        name="law.L2",
        title="Edges and records tell the same ancestry",
        statement="For every record, the ancestry edges that leave it equal the ancestry that it claims itself.",
        matters="Ancestry that is told twice and differently leaves a reader to guess which parent is real.",
        decided="By one snapshot. In our store the claim is the derivation of the record's own entry and its ancestry "
        "digest; both must fit the edges.",
        here="Ancestry is stored once, as edges of a derivation; metadata may hold no key of lineage.",
        planted="A parent edge is deleted, or one is added that no derivation wrote.",
        family="redundancy",
        paper="violated",
        paper_because="Ancestry is written twice, the second time where a failure is logged and passed over; copied "
        "metadata adds stale claims.",
    ),
    Clause(
        clause="L3",
        name="law.L3",
        title="Every derivation can be followed both ways",
        statement="Each edge that a derivation adds, if its relation has an inverse, has that inverse in the store.",
        matters="Without the inverse, whoever asks what came of a record is told nothing came of it.",
        decided="By one snapshot, over the relations of derivations. Links and relations without an inverse are "
        "listed apart.",
        here="An inverse is a query over the one stored edge; there is no second row that could be lost.",
        planted="An edge is stored under the inverse relation, so that no query leads back from it.",
        family="redundancy",
        paper="holds",
        paper_because="The two writes are adjacent and complete on success.",
    ),
    Clause(
        clause="L4i",
        name="law.L4i",
        title="What happens in one namespace stays in it",
        statement="An operation that names only records of one namespace leaves every record and edge outside it as "
        "it was.",
        matters="Two teams share a node; neither may change what the other one remembers.",
        decided="By a log: every record and edge of the namespace was written by an entry of that namespace. Two "
        "snapshots decide it only where nothing old changed.",
        here="A write carries one namespace, and every row is keyed to an entry of the same namespace.",
        planted="A record is inserted that no entry of its namespace wrote.",
        family="locality",
        paper="holds",
        paper_because="Each new record takes the namespace of a named argument.",
    ),
    Clause(
        clause="L4ii",
        name="law.L4ii",
        title="A record is built only from records of its own namespace",
        statement="Each record that a derivation constructs is built from arguments in that record's own namespace.",
        matters="A merge across namespaces carries one team's text to another, where nobody let it in.",
        decided="By one snapshot: an ancestry edge or claim that joins two namespaces breaks it.",
        here="Derivations across namespaces are refused, and the keys of an edge's ends include its namespace.",
        planted="An ancestry edge is inserted whose target is a record of another namespace.",
        family="locality",
        paper="violated",
        paper_because="Merge never compares namespaces and files the result under the first argument.",
    ),
    Clause(
        clause="L5",
        name="law.L5",
        title="The same request gives the same result",
        statement="Output and next state depend on store, operation and allocated identifiers only: not on the hash "
        "seed, the order of rows or the choice of an index.",
        matters="A result that depends on chance cannot be reproduced when somebody asks how it came about.",
        decided="By running an operation twice from equal states, or by reading the source. One snapshot shows pairs "
        "that could be resolved either way.",
        here="Identity is equality of full identifiers; ties go to the lowest declared rank, and the rule is stored.",
        planted="A merge is stored whose type follows from no rule that it names.",
        family="locality",
        paper="violated",
        paper_because="The type of a merge follows the order of a set; a prefix matches without an order.",
    ),
    Clause(
        clause="L6",
        name="law.L6",
        title="What was true and when we knew it are kept apart",
        statement="Some observation of the store answers every as-of point, for all histories.",
        matters="Asked what we held on Tuesday about Monday, a store with one time axis must guess.",
        decided="By the schema: is there a valid-time column. Two histories that differ only in valid time and give "
        "one store show that no query can repair its absence.",
        here="Every record has a valid interval from its caller and a recorded instant from the store, which rises "
        "with every entry.",
        planted="An entry's recorded instant is set back behind the entry before it.",
        family="time",
        paper="violated",
        paper_because="There is one time axis.",
    ),
    Clause(
        clause="L7",
        name="law.L7",
        title="Every edge ends at a record",
        statement="Every end of every edge is a record of the store.",
        matters="An edge into nothing is a source that nobody can check, and a later record may take its name.",
        decided="By one snapshot: ends that are no record, abbreviations in place of identifiers and claims about "
        "missing records are counted apart.",
        here="Both ends are foreign keys; what an import cannot resolve is quarantined.",
        planted="An edge is inserted whose target is an identifier that never was.",
        family="structure",
        paper="violated",
        paper_because="There are no foreign keys, and validation is off by default.",
    ),
)

BY_CLAUSE: dict[ClauseName, Clause] = {law.clause: law for law in LAWS}
BY_NAME: dict[str, Clause] = {law.name: law for law in LAWS}
