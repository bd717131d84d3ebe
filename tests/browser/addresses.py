"""For each route of the site that answers a GET: addresses that show it, in a furnished namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver, get_resolver

from audit.pages.beliefs.address import graph_url
from audit.pages.calibration.words import segment_path
from memory.agents.accounts import sign_in_path
from tests.browser.furnished import Furnished
from tests.facts.stating import SHOP

API = "api/v1/"
ALL_OPEN = "?open=wealth,metrics,confidences,lag,scores,forecasts"
SUBJECT = urlencode({"subject": SHOP})
ABOUT = {"schema_version": 2, "relation_type": "rel", "root": "a", "nodes": ["a", "b", "c"]}


@dataclass(frozen=True, slots=True)
class Sample:
    """An address, the one who opens it, and the answer. `by` is a name of the world; "" for nobody signed in.

    `or_status` is another answer that is right too, where the state of the machine decides.
    """

    address: str
    by: str = "alice"
    status: int = 200
    or_status: int | None = None


Samples = Callable[[Furnished], list[Sample]]


def routes(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[str]:
    """Every route of the site but those of the API, as the URL conf writes them."""
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        elif route != API:
            yield from routes(pattern, route)


def _all(*addresses: str, by: str = "alice") -> list[Sample]:
    return [Sample(address, by) for address in addresses]


def _each(address: str, *ids: UUID) -> list[Sample]:
    return _all(*(address.format(id) for id in ids))


def _records(world: Furnished) -> list[Sample]:
    narrowed = ("q=refunds&type=note&agent=scout", "state=erased&state=withdrawn", "q=nothingofthekind")
    return [*_all("/records"), *_all(*(f"/records?{query}" for query in narrowed)), Sample("/records", "charlie")]


def _records_of_the_past(world: Furnished) -> list[Sample]:
    later = f"valid_at=2999-01-01T00:00:00Z&known_at=seq:{world.now().seq - 9}"
    return _all(
        "/records?valid_at=2020-01-01T00:00:00Z&known_at=seq:1",
        f"/records?{later}&include=withdrawn,erased,superseded",
        "/records?known_at=source:2026-01-15T00:00:00Z",
    )


def _record_otherwise(world: Furnished) -> list[Sample]:
    past = f"valid_at=2999-01-01T00:00:00Z&known_at=seq:{world.now().seq - 5}"
    return [
        *_all(f"/records/{world.deepest}?up=300&down=2", f"/records/{world.deepest}?view=table"),
        *_all(f"/records/{world.deepest}?against=seq:2&to={world.root}&find=refunds&up=5"),
        Sample(f"/records/{world.hostile[3]}?text=canonical", "charlie"),
        Sample(f"/records/{world.deepest}?{past}", "bob"),
    ]


def _facts(world: Furnished) -> list[Sample]:
    narrowed = ("subject=Shop+of+Acme+GmbH&attribute=city", "status=conflict", "q=nothingofthekind")
    past = f"valid_at=2026-07-01T00:00:00Z&known_at=seq:{world.now().seq}"
    return [
        *_all("/facts", *(f"/facts?{query}" for query in narrowed), f"/facts?{past}&include=superseded,withdrawn"),
        *_all("/facts?valid_at=2020-01-01T00:00:00Z&known_at=seq:1", "/facts?known_at=source:2026-01-15T00:00:00Z"),
        *_all("/facts?subject=Shop+of+Acme+GmbH&against=2026-07-01", by="charlie"),
        Sample("/facts?subject=Shop+of+Acme+GmbH&against=never", status=422),
    ]


def _facts_apart(world: Furnished) -> dict[str, list[Sample]]:
    cases, facts = world.stated.cases, world.stated.facts
    return {
        "new": [*_all("/facts/new?subject=Shop&attribute=city"), Sample("/facts/new", "bob", status=403)],
        "conflicts": [*_all("/facts/conflicts"), *_all("/facts/conflicts?known_at=seq:1", by="charlie")],
        "case": [
            *_each("/facts/conflicts/{}", *cases),
            *(Sample(f"/facts/conflicts/{cases[-1]}", by) for by in ("bob", "charlie")),
        ],
        "retract": [
            *_each("/facts/{}/retract", facts["hostile"]),
            Sample(f"/facts/{facts['known']}/retract", "charlie", status=403),
        ],
    }


def _ledger(world: Furnished) -> list[Sample]:
    past = f"valid_at=2020-01-01T00:00:00Z&known_at=seq:{world.now().seq // 2}"
    return [*_all("/ledger", "/ledger?verb=save&from=1&to=9", f"/ledger?{past}"), Sample("/ledger", "charlie")]


def _entries(world: Furnished) -> list[Sample]:
    return [
        *_all(f"/ledger/{world.hostile_seq + 1}?item=3", f"/ledger/{world.hostile_seq}", f"/ledger/{world.erased_seq}"),
        Sample(f"/ledger/{world.now().seq}", "charlie"),
    ]


def _erasing(world: Furnished) -> list[Sample]:
    hostile = "&".join(f"record={record}" for record in world.hostile)
    asked = ("subject=refund", "subject=nothingofthekind", "subject=efun", f"record={world.root}", hostile)
    return [
        *_all("/erasures/new", *(f"/erasures/new?{query}" for query in asked)),
        Sample("/erasures/new", "charlie", status=403),
        Sample("/erasures/new?subject=a", status=422),
    ]


def _graphs(world: Furnished) -> list[Sample]:
    about = {**ABOUT, "nodes": ["a", "b", "c", world.node]}
    past = (("valid_at", "2030-01-01T00:00:00Z"), ("known_at", f"seq:{world.now().seq - 9}"))
    hard = {"schema_version": 2, "relation_type": "hard", "root": "a", "nodes": ["a", "b"]}
    return [
        *_all(graph_url(about, carried=(), again="1", against="seq:1", node=world.node), "/beliefs/graph"),
        *_all(graph_url({**about, "root": world.node}, carried=past), by="charlie"),
        Sample(graph_url(about, carried=(), against="never"), status=422),
        Sample(graph_url(hard, carried=()), status=409),
        Sample("/beliefs/graph?query=%5B%5D", status=422),
    ]


# Routes that answer pages. What stands behind a # only tells several of one route apart.
PAGES: Mapping[str, Samples] = {
    "sign-in": lambda world: _all("/sign-in?next=/records", by=""),
    "sign-in/password": lambda world: _all("/sign-in/password"),
    "sign-in/<str:uid>/<str:token>": lambda world: [
        Sample(sign_in_path(User.objects.get(pk=world.bob.person or 0)), ""),
        Sample("/sign-in/Mg/used-up", "", status=422),
    ],
    "": lambda world: [*_all("/"), *_all("/", by="charlie")],
    "inbox": lambda world: [
        *_all("/inbox", "/inbox?kind=inbox&mine=yes", "/inbox?kind=turned_down", "/inbox?kind=tombstones"),
        Sample("/inbox", "charlie"),
        Sample("/inbox?kind=elephants", status=422),
    ],
    "inbox/review": lambda world: [
        Sample(f"/inbox/review?verb=confirm&{'&'.join(f'held=record:{one}' for one in world.held)}", "bob"),
        Sample(f"/inbox/review?verb=reject&held=record:{world.held[0]}", "bob"),
        Sample(f"/inbox/review?verb=reject&held=record:{world.root}", "bob", status=409),
        Sample(f"/inbox/review?verb=reject&held=record:{world.held[0]}", "charlie", status=403),
    ],
    "records": _records,
    "records#past": _records_of_the_past,
    "records/<uuid:record>": lambda world: _each("/records/{}", world.root, world.deepest, world.mixed),
    "records/<uuid:record>#hostile": lambda world: _each("/records/{}", *world.hostile),
    "records/<uuid:record>#state": lambda world: _each(
        "/records/{}", world.withdrawn, world.erased, world.erased_child, world.superseded
    ),
    "records/<uuid:record>#view": _record_otherwise,
    "records/<uuid:record>/versions": lambda world: _each(
        "/records/{}/versions", world.second, world.erased_child, world.hostile[2]
    ),
    "records/<uuid:record>/entries": lambda world: _each(
        "/records/{}/entries", world.deepest, world.erased, world.hostile[0]
    ),
    "records/<uuid:record>/source": lambda world: _each("/records/{}/source", world.of_source, world.deepest),
    "records/<uuid:record>/withdraw": lambda world: [
        Sample(f"/records/{world.hostile[1]}/withdraw", "bob"),
        Sample(f"/records/{world.deepest}/withdraw", "charlie", status=403),
    ],
    "records/<uuid:record>/restore": lambda world: _each("/records/{}/restore", world.withdrawn),
    "records/<uuid:record>/evolve": lambda world: _each("/records/{}/evolve", world.mixed),
    "records/<uuid:record>/supersede": lambda world: _each("/records/{}/supersede", world.deepest),
    "records/compiled": lambda world: [
        *_all("/records/compiled", "/records/compiled?output=public", "/records/compiled?state=stale"),
        Sample("/records/compiled?known_at=seq:1", "charlie"),
    ],
    "records/<uuid:record>/rebuild": lambda world: _each("/records/{}/rebuild", *world.compiled),
    "records/<uuid:record>#compiled": lambda world: _each("/records/{}", *world.compiled),
    "records/compare": lambda world: _all(f"/records/compare?record={world.second}&record={world.root}"),
    "records/<uuid:record>/link": lambda world: _all(
        f"/records/{world.deepest}/link?relation=references&target={world.second}"
    ),
    "records/<uuid:record>/merge": lambda world: _all(f"/records/{world.deepest}/merge?with={world.parts[1]}"),
    "records/<uuid:record>/settle": lambda world: _each("/records/{}/settle", world.mixed, world.deepest),
    "records/<uuid:record>/facts": lambda world: _each("/records/{}/facts", world.stated.source, world.root),
    "records/<uuid:record>/suggestions": lambda world: [
        *_each("/records/{}/suggestions", world.deepest, world.hostile[0], world.erased),
        Sample(f"/records/{world.parts[1]}/suggestions", "charlie"),
    ],
    "records/<uuid:record>/diff": lambda world: _all(
        f"/records/{world.root}/diff?with={world.deepest}",
        f"/records/{world.root}/diff?with={world.deepest}&view=split",
        f"/records/{world.hostile[0]}/diff?with={world.hostile[2]}",
        f"/records/{world.erased}/diff?with={world.root}",
    ),
    "records/<str:prefix>": lambda world: [Sample(f"/records/{world.prefix}", status=409)],
    "timeline": lambda world: [
        *_all("/timeline", f"/timeline?record={world.deepest}&against=seq:3&scale=ordinal"),
        *_each("/timeline?record={}", world.withdrawn, world.erased, world.erased_child, *world.hostile[:3]),
        Sample(f"/timeline?record={world.of_source}&known_at=source:2026-01-15T00:00:00Z", "charlie"),
        *_all(f"/timeline?{SUBJECT}", f"/timeline?{SUBJECT}&include=held,candidate&against=seq:9"),
        Sample(f"/timeline?record={world.root}&true_on=never&recorded_by=seq:2", status=422),
    ],
    "tombstones": lambda world: [
        *_all("/tombstones", "/tombstones?include=retired", "/tombstones?state=audit_only"),
        Sample("/tombstones?known_at=seq:1", "charlie"),
    ],
    "tombstones/new": lambda world: [*_all("/tombstones/new"), Sample("/tombstones/new", "bob", status=403)],
    "tombstones/check": lambda world: [
        *_all("/tombstones/check", "/tombstones/check?route=pay+refunds+by+the+batch+job&scope=desk:+refunds"),
        Sample("/tombstones/check?route=x", "charlie", status=422),
    ],
    "tombstones/<uuid:tombstone>": lambda world: [
        *_each("/tombstones/{}", *world.dead_ends),
        Sample(f"/tombstones/{world.dead_ends[0]}", "charlie"),
    ],
    "beliefs": lambda world: [*_all("/beliefs"), Sample("/beliefs?known_at=seq:1", "charlie")],
    "beliefs/graph": _graphs,
    "beliefs/saved/<uuid:saved>": lambda world: _each("/beliefs/saved/{}", world.questions[1]),
    "beliefs/observations": lambda world: _all("/beliefs/observations?observation_id=odd"),
    "beliefs/observations/<uuid:observation_id>": lambda world: [
        *_each("/beliefs/observations/{}", world.observed["odd"], world.observed["cd"]),
        Sample(f"/beliefs/observations/{world.observed['gone']}", "charlie"),
    ],
    "beliefs/observations/<uuid:observation_id>/revoke": lambda world: [
        Sample(f"/beliefs/observations/{world.observed['odd']}/revoke", "bob"),
        Sample(f"/beliefs/observations/{world.observed['odd']}/revoke", "charlie", status=403),
    ],
    "beliefs/relations/<path:relation_type>": lambda world: _all("/beliefs/relations/hard"),
    "calibration": lambda world: [
        *_all("/calibration", "/calibration?how=open"),
        Sample("/calibration?known_at=seq:1", "charlie"),
    ],
    "calibration/segments/<uuid:run>/<uuid:relation_type>/<uuid:source_family>": lambda world: [
        *_all(*(segment_path(row.key) + ALL_OPEN for row in world.segments)),
        Sample(segment_path(world.segments[0].key), "charlie"),
    ],
    "calibration/alarms/<uuid:alarm>": lambda world: [
        *_each("/calibration/alarms/{}", world.alarm),
        Sample(f"/calibration/alarms/{world.alarm}", "charlie"),
    ],
    "facts": _facts,
    "facts/new": lambda world: _facts_apart(world)["new"],
    "facts/conflicts": lambda world: _facts_apart(world)["conflicts"],
    "facts/conflicts/<uuid:case>": lambda world: _facts_apart(world)["case"],
    "facts/<uuid:fact>": lambda world: _each("/facts/{}", *world.stated.facts.values()),
    "facts/<uuid:fact>/supersede": lambda world: _each("/facts/{}/supersede", world.stated.facts["known"]),
    "facts/<uuid:fact>/retract": lambda world: _facts_apart(world)["retract"],
    "runs": lambda world: _all("/runs", "/runs?q=4411", "/runs?q=nothingofthekind"),
    "runs/<uuid:run>": lambda world: _all(
        f"/runs/{world.run}", f"/runs/{world.run}?only=refused", f"/runs/{world.hostile_run}"
    ),
    "ledger": _ledger,
    "ledger/<int:seq>": _entries,
    "ledger/checkpoints": lambda world: _all("/ledger/checkpoints", "/ledger/checkpoints?first=1&second=9"),
    "ledger/checks/<uuid:run>": lambda world: _each("/ledger/checks/{}", world.check),
    "ledger/scans/<uuid:job>": lambda world: _each("/ledger/scans/{}", world.scan),
    "laws": lambda world: [*_all("/laws"), *_all("/laws", by="charlie")],
    "laws/<str:name>": lambda world: _all(
        "/laws/law.L7", "/laws/law.L2", "/laws/law.L5", "/laws/ledger_scan", "/laws/rebuild"
    ),
    "laws/<str:name>/waive": lambda world: [
        *_all("/laws/law.L7/waive"),
        Sample("/laws/law.L7/waive", "charlie", status=403),
    ],
    "laws/runs/<uuid:job>": lambda world: _each("/laws/runs/{}", world.law_run),
    "laws/compare": lambda world: _all(
        "/laws/compare",
        f"/laws/compare?first={world.root}&second={world.second}",
        f"/laws/compare?first={world.hostile[0]}&second={world.hostile[2]}",
        f"/laws/compare?first={world.root}&second={world.root}",
    ),
    "laws/stores": lambda world: _all(
        "/laws/stores", f"/laws/stores?against={world.hostile_seq}", f"/laws/stores?import={world.imported}"
    ),
    "laws/comparisons/<uuid:job>": lambda world: _each("/laws/comparisons/{}", *world.comparisons),
    "erasures": lambda world: [*_all("/erasures"), *_all("/erasures", by="charlie")],
    "erasures/new": _erasing,
    "erasures/close": lambda world: [
        *_all("/erasures/close"),
        Sample("/erasures/close", "charlie", status=403),
    ],
    "erasures/<int:seq>": lambda world: [
        *_all(f"/erasures/{world.erased_seq}"),
        *_all(f"/erasures/{world.erased_seq}", by="charlie"),
    ],
    "imports": lambda world: [*_all("/imports"), *_all("/imports", by="charlie")],
    "imports/<uuid:run>": lambda world: _all(
        f"/imports/{world.imported}", f"/imports/{world.imported}?severity=quarantined"
    ),
    "imports/<uuid:run>/reconciliation": lambda world: [
        *_all(f"/imports/{world.imported}/reconciliation"),
        *_all(f"/imports/{world.imported}/reconciliation", by="charlie"),
    ],
    "imports/<uuid:run>/undo": lambda world: _all(f"/imports/{world.imported}/undo"),
    "imports/findings/<uuid:finding>": lambda world: _each("/imports/findings/{}", *world.findings),
    "imports/tasks/<uuid:job>": lambda world: _each("/imports/tasks/{}", *world.uploads),
    "search": lambda world: _all("/search", "/search?q=refund", "/search?q=note%20nothingofthekind%20%E2%80%AE"),
    "agents": lambda world: [*_all("/agents"), *_all("/agents", by="charlie")],
    "agents/<uuid:agent>/first": lambda world: _each("/agents/{}/first", world.frozen, world.scout_id),
    "gallery": lambda world: _all("/gallery"),
    "api/v1/docs": lambda world: _all("/api/v1/docs"),
}

# Routes that answer files and bare data.
FILES: Mapping[str, Samples] = {
    "overview.csv": lambda world: _all("/overview.csv"),
    "inbox.json": lambda world: _all("/inbox.json", "/inbox.json?kind=inbox"),
    "records.csv": lambda world: _all("/records.csv"),
    "records.json": lambda world: _all("/records.json"),
    "records/<uuid:record>/lineage.svg": lambda world: _all(f"/records/{world.mixed}/lineage.svg?up=3"),
    "records/<uuid:record>/lineage.json": lambda world: _all(f"/records/{world.mixed}/lineage.json"),
    "timeline.csv": lambda world: _all(f"/timeline.csv?record={world.deepest}"),
    "timeline.json": lambda world: _all(f"/timeline.json?record={world.deepest}"),
    "beliefs/graph.json": lambda world: _all(graph_url(ABOUT, carried=()).replace("graph", "graph.json", 1)),
    "beliefs/graph.csv": lambda world: [
        *_all(graph_url(ABOUT, carried=(), figure="removals").replace("graph", "graph.csv", 1)),
        Sample("/beliefs/graph.csv", status=422),
    ],
    "beliefs/observations/<uuid:observation_id>.csv": lambda world: _all(
        f"/beliefs/observations/{world.observed['odd']}.csv"
    ),
    "calibration.csv": lambda world: _all("/calibration.csv"),
    "calibration/segments/<uuid:run>/<uuid:relation_type>/<uuid:source_family>.csv": lambda world: _all(
        f"{segment_path(world.segments[0].key)}.csv?figure=wealth"
    ),
    "calibration/alarms/<uuid:alarm>.csv": lambda world: _all(f"/calibration/alarms/{world.alarm}.csv"),
    "facts.csv": lambda world: _all("/facts.csv"),
    "facts.json": lambda world: _all("/facts.json?include=superseded,withdrawn,held,erased"),
    "ledger.csv": lambda world: _all("/ledger.csv"),
    "ledger.json": lambda world: _all("/ledger.json"),
    "ledger/verifier.py": lambda world: _all("/ledger/verifier.py"),
    "ledger/<int:seq>/proof.json": lambda world: _all("/ledger/3/proof.json"),
    "ledger/checkpoints/<int:seq>.txt": lambda world: _all(f"/ledger/checkpoints/{world.signed_seq}.txt"),
    "laws.csv": lambda world: _all("/laws.csv"),
    "laws.json": lambda world: _all("/laws.json"),
    "erasures/<int:seq>.txt": lambda world: _all(f"/erasures/{world.erased_seq}.txt"),
    "runs.csv": lambda world: _all("/runs.csv"),
    "runs.json": lambda world: _all("/runs.json"),
    "healthz": lambda world: _all("/healthz", by=""),
    "readyz": lambda world: [Sample("/readyz", "", or_status=503)],
}

# What stands where no page does: refusals in the frame and without it.
REFUSALS = (
    Sample("/nowhere", status=404),
    Sample("/nowhere", "", status=404),
    Sample("/records/00000000-0000-0000-0000-000000000000", status=404),
    Sample("/records?known_at=seq:9999999", status=422),
    Sample("/records?ns=elsewhere", status=404),
)
