"""A namespace that holds one of everything that a page can show, hostile texts among it."""

from __future__ import annotations

import lzma
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

from audit.laws import recording
from audit.laws import tasks as laws
from audit.laws.bisimilarity import tasks as comparisons
from memory.agents import operations as agents
from memory.agents import runs
from memory.base import clock, jobs
from memory.base.actor import RunGiven
from memory.calibration.queries.verdicts import segments
from memory.checks import operations as checks
from memory.checks.ledger_scan import verify
from memory.checks.operations import Found
from memory.interchange import queries as imports
from memory.interchange import tasks as uploads
from memory.interchange.contextfs.operations import Options
from memory.interchange.operations import import_file
from memory.ledger.operations import checkpoints
from memory.ledger.operations.erasing import erase
from memory.records import operations as records
from memory.records import reviewing
from memory.records.content import NewRecord
from memory.records.queries import lists
from memory.tombstones.content import Revival
from memory.tombstones.models import Tombstone
from memory.tombstones.operations.living import judge_block
from tests.beliefs.told import asked, told
from tests.calibration.filled import filled
from tests.calibration.labelling import alarmed, watch
from tests.facts.stating import every_state
from tests.tombstones.burials import blocked, buried, spoken_for, whole_life
from tests.world import World

STORES = Path(__file__).parent.parent / "interchange" / "fixtures"
STORE = "violations.db.xz"
SOURCE_NAMESPACE = "app-core"

HOLD = "type=procedure -> hold 14 d"

# Each would do something if a page took it for more than text.
SCRIPT = '<script>window.ran = true</script><img src=x onerror="window.ran = true"> <b>bold</b> & &amp; \' " ]]>'
TURNED = "an \u202e1144 eciovni\u202c \u200f\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627\u200e"
LONG_WORD = "refundlimit" * 120
SECRET = "password: hunter2-hunter2-hunter2 and AKIAIOSFODNN7EXAMPLE"
UNSEEN = "a\u200bb\u00a0c\u2028d\u0007e\tf\r\ng\ufeff"


class Furnished(World):
    """Thirty records and more, a run, an import, checkpoints, a check, agents, tokens, people, a hold."""

    def __init__(self, folder: Path, name: str = "lab") -> None:
        super().__init__(name)
        self.runs: list[UUID] = []
        self._lineage()
        self._compiled()
        self._states()
        self._held()
        self._hostile()
        self._run()
        self._dead_ends()
        self._beliefs()
        self._calibration()
        checkpoints.checkpoint(self.namespace, make_key=True)
        self.stated = every_state(self, hostile=f"{SCRIPT[:90]} {TURNED}")
        self._import(folder)
        self._people()
        self._laws()
        self.check = verify(self.charlie)[0].id
        self.scan = jobs.ask(self.charlie, kind="ledger_scan", given={"kept": "", "namespace": self.name}).id
        self.signed_seq = checkpoints.checkpoint(self.namespace).seq

    def _held(self) -> None:
        """What waits for a person: beside what is near, alone, and hostile; one that was rejected."""
        agents.change_setting(
            self.alice, name="review_policy", value=f'type=procedure agent="{TURNED}" -> hold\n{HOLD}'
        )
        texts = ("Refunds above 260 EUR need a second look", "Zebras are striped", SCRIPT, TURNED, LONG_WORD, SECRET)
        self.held = [self.save(text, type="procedure").id for text in texts]
        gone = self.save("Refunds are never paid", type="procedure").id
        reviewing.review(self.bob, reject=[reviewing.Target("record", gone)], reason=SCRIPT)

    def _lineage(self) -> None:
        """Four levels: a note is evolved, summed up with others, divided, and one part evolved again."""
        first = self.save("Refunds above 200 EUR need a second look", tags=("refunds",), origin="handbook")
        self.root = first.id
        self.second = self.evolve(first.id, content="Refunds above 250 EUR need a second look")
        others = self.save_all("Refunds below 250 EUR are paid at once", "A second look takes a day")
        self.third = self.merge(self.second, *(other.id for other in others), type="summary", content="Refunds: rules.")
        self.parts = self.split(self.third, "Refunds: the limit is 250 EUR", "Refunds: a second look takes a day")
        self.deepest = self.evolve(self.parts[0], content="Refunds: the limit is 250 EUR, VAT included")
        self.link(self.parts[1], "contradicts", others[0].id)
        for n in range(6):
            asked = self.save(f"Customer {4400 + n} asked about refunds")
            self.merge(self.deepest, asked.id, type="note", content=f"Customer {4400 + n} was told the limit")

    def _compiled(self) -> None:
        """A digest that is behind, made twice and not alike, and a public one of it, tainted since."""
        gone = self.save("A customer's own words about refunds").id
        by_hand = [
            self.compile(self.second, content=f"Refunds in short, take {n}", covers="refunds", function=TURNED[:20])
            for n in range(2)
        ]
        joined = self.compile(self.second, gone, content=None, function="concatenate", version="1")
        public = self.compile(joined, content="Refunds: ask.", is_public=True, tags=("refunds",))
        self.save("Refunds are also paid in vouchers", tags=("refunds",))
        self.erase(gone)
        self.compiled = [*by_hand, joined, public]

    def _states(self) -> None:
        self.withdrawn = self.save("A note that should not be seen").id
        self.withdraw(self.withdrawn, reason="a private matter")
        self.erased = self.save("A note that must be gone").id
        self.erased_child = self.evolve(self.erased, content="A note that rests on what is gone")
        self.erased_seq = self.erase(self.erased, note="asked for by the customer").seq
        old, new = self.save_all("The desk closes at five", "The desk closes at six")
        self.supersede(old.id, new.id)
        self.superseded = old.id
        self.save_all(*(f"Ordinary note number {n}" for n in range(8)))

    def _hostile(self) -> None:
        texts = (SCRIPT, TURNED, LONG_WORD, SECRET, UNSEEN)
        self.hostile = [
            self.save(text, type=text[:40].strip(), tags=(text[:60],), origin=text[:150], metadata={text[:60]: text}).id
            for text in texts
        ]
        self.hostile_seq = self.now().seq
        self.mixed = self.merge(*self.hostile, type="summary", content="\n".join(texts))
        names = (f"{TURNED} {SCRIPT}"[:120], LONG_WORD[:120])
        self.save_all("A note of an agent with a strange name", by=self.agent(names[0]))
        self.agent(names[1])
        # Two ids that begin alike.
        twins = [NewRecord("note", f"Twin {n}", id=UUID(f"abcd0000-0000-4000-8000-{n:012}")) for n in (1, 2)]
        records.save(self.scout, records=twins)
        self.prefix = "abcd"

    def _run(self) -> None:
        given = RunGiven(
            title="Refund of order 4411", refs=(("ticket", "4411"), ("trace", "0af7651916cd43dd8448eb211c80319c"))
        )
        opened = replace(self.scout, run=given)
        self.run = runs.open_run(opened)[0]
        inside = replace(self.scout, run=RunGiven(id=self.run))
        written = self.save("The customer of order 4411 asked for a refund", by=inside)
        self.save("The refund of order 4411 was promised", by=inside, origin=str(written.id))
        runs.end_run(inside, run=self.run, note="paid")
        hostile = RunGiven(title=f"{TURNED} {SCRIPT}"[:150], refs=(("ticket", TURNED[:50]), ("case", LONG_WORD[:100])))
        self.hostile_run = runs.open_run(replace(self.scout, run=hostile))[0]
        self.save("A note of a run with a strange name", by=replace(self.scout, run=RunGiven(id=self.hostile_run)))

    def _dead_ends(self) -> None:
        """One that is overdue and blocked an act, one with hostile words, one whose life is over, one erased."""
        record = self.save("The refund desk paid twice").id
        route, scope = "pay refunds by the batch job", {"desk": "refunds", "amount": [">250EUR", "none"]}
        due = buried(
            self, route=route, scope=scope, out_of_scope={"is_dry_run": True},
            revival=[Revival("the job waits for the ledger", 2), "a dry run agrees"], references=(record,),
            retest_at=clock.now() + timedelta(milliseconds=1),
        )  # fmt: skip
        asked = {"desk": "refunds", "amount": "none"}
        checks = [blocked(self, route=route, scope=asked) for _ in range(2)]
        judge_block(self.scout, tombstone=due, is_false=True, check=checks[0], note="the desk had checked by hand")
        spoken_for(self, due, "a dry run agrees", origin="the night run")
        hostile = buried(
            self, route=f"{TURNED} {SCRIPT}"[:200], scope=f"{LONG_WORD} {SCRIPT}"[:380], evidence=SECRET,
            retest=LONG_WORD, revival=[SCRIPT, TURNED],
        )  # fmt: skip
        over = whole_life(self)
        gone = buried(self, route="a route to be forgotten")
        row = Tombstone.objects.get(namespace=self.namespace, id=gone)
        erase(self.alice, items=[(row.seq, row.item)], reason="request")
        self.dead_ends = [due, hostile, over, gone]

    def _beliefs(self) -> None:
        """A graph with a conflict, a node of a hostile name, a revocation, a saved question of each kind, two laws."""
        self.node = f"{TURNED} {SCRIPT}"[:200]
        self.observed = told(self, hostile=self.node)
        self.questions = [asked(self), asked(self, self.node, nodes=["c", self.node], root="c"),
                          asked(self, "around", nodes=None, seeds=["a"])]  # fmt: skip
        self.bind("hard", "s3", has_zero_floor=True)
        for id, at in (("yes", 0), ("no", 1)):
            vector = [float(i == at) for i in range(6)]
            self.observe(id, "a", "b", vector, relation_type="hard")

    def _calibration(self) -> None:
        """A segment with an alarm, one of hostile names with too few labels to say, one that is neither."""
        hostile = f"{TURNED} {SCRIPT}"[:120]
        self.bind("turns", law="cyclic:4")
        watch(self, hostile, reference_size=20, current_size=10, min_current_size=5)
        filled(self, family="camera", n=40, turns_at=20, relation_type="turns")
        filled(self, family=hostile, n=2, turns_at=2, n_pending=1, relation_type="turns")
        self.alarm = alarmed(self)
        self.segments = segments(self.now())

    def _import(self, folder: Path) -> None:
        """One store is in; of others a dry run stands, one waits, and one is no store at all."""
        path = unpacked(folder)
        options = Options(base=self.name, only=SOURCE_NAMESPACE, mapping={SOURCE_NAMESPACE: self.name})
        import_file(self.alice, path, format="contextfs", options=options)
        run = imports.import_runs(self.now())[0]
        self.imported, self.imported_seq = run.id, run.seq
        found = imports.findings(self.now(), run=run.id).items
        self.findings = [
            next(one.id for one in found if one.severity == kind) for kind in {one.severity for one in found}
        ]
        self.of_source = lists.records(self.now(), where=lists.Filter(source_classes=("relayed",))).items[0].id
        asked = uploads.Asked(name=f"{SCRIPT[:40]}.db", base=self.name)
        pieces = ([path.read_bytes()], [b"no store at all"])
        asks = [uploads.ask_import(self.alice, pieces=each, asked=asked).job for each in pieces]
        waiting = jobs.ask(self.alice, kind=uploads.KIND, given=asks[0].given)
        self.uploads = [*(job.id for job in asks), waiting.id]

    def _people(self) -> None:
        self.person("dora", role="reviewer")
        self.frozen = agents.create_agent(self.alice, name="courier").id
        token = agents.issue_token(self.alice, agent=self.frozen).id
        agents.revoke_token(self.alice, token=token)
        agents.freeze(self.alice, agent=self.frozen, reason="it wrote at night")
        agents.hold(self.alice, held=True, reason="an audit of refunds")

    def _laws(self) -> None:
        """Every law has run; one is broken and waived, and a run and two comparisons wait or are done."""
        recording.run(self.charlie)
        witnesses = [
            {"kind": "edge_end_missing", "record": str(self.deepest), "relation": "evolved_from",
             "target": str(uuid4()),
             "namespace": self.name, "entry": n + 1, "missing": [str(uuid4())]}
            for n in range(60)
        ]  # fmt: skip
        across = {"kind": "cross_namespace_ancestry", "record": str(self.root), "relation": "merged_from",
                  "target": str(uuid4()), "namespace": self.name,
                  "target_namespace": f"{TURNED[:20]} elsewhere"}  # fmt: skip
        scope = {
            "clause": "L7", "verdict": "violated", "scope": "store", "decided_by": "both ends of every edge",
            "kinds": {"edge_end_missing": 160, "cross_namespace_ancestry": 1},
            "severities": {"edge_end_missing": "violation", "cross_namespace_ancestry": "violation"},
            "witnesses": [*witnesses, across],
        }  # fmt: skip
        checks.record_run(
            self.charlie, name="law.L7", version=1, verdict="violated", at_seq=self.now().seq, n_checked=90,
            found=[Found("edge_end_missing", object=self.deepest, seq=n + 1) for n in range(60)],
            report={"clause": "L7", "scopes": [scope]},
        )  # fmt: skip
        ends = clock.now() + timedelta(days=20)
        checks.waive(self.alice, name="law.L7", reason=f"known since March {SCRIPT}", expires_at=ends)
        self.law_run = jobs.ask(
            self.charlie, kind=laws.KIND, given={"clauses": ["L2", "L7"], "namespace": self.name}
        ).id
        given = comparisons.given_records(seq=self.now().seq, first=self.root, second=self.second)
        asked = [jobs.ask(self.alice, kind=comparisons.KIND, given=given).id for _ in range(2)]
        comparisons.run(asked[0])
        self.comparisons = asked


def unpacked(folder: Path, name: str = STORE) -> Path:
    """A store of another memory, as a file in the folder."""
    path = folder / name.removesuffix(".xz")
    path.write_bytes(lzma.decompress((STORES / name).read_bytes()))
    return path
