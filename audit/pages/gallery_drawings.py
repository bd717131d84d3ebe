"""Made-up slices and series for the gallery: every shape, state and relation, and the sizes that matter."""

from datetime import UTC, datetime, timedelta

from django.utils.safestring import SafeString, mark_safe

from audit.charts.bitemporal import bitemporal_svg, title_of
from audit.charts.bitemporal_values import Known, Picture, Point, Version
from audit.charts.lineage import lineage_svg
from audit.charts.lineage_values import Graph, Link, Node
from audit.charts.outline import outline
from audit.charts.spark import SparkBar, spark_svg
from audit.charts.violations import Outcome, Slot, violations_svg
from audit.components import Facet, FacetValue, Tab

KINDS = ("record", "fact", "action", "rule", "claim", "tombstone")
DAYS = tuple(f"{day} Nov" for day in range(1, 15))


def samples() -> dict[str, object]:
    graph = Graph(nodes=NODES, links=LINKS, n_nodes_total=1_226, n_links_total=2_304, cut_by="nodes")
    return {
        "graph": graph,
        "lineage": _drawn(graph, drawing_id="lineage"),
        "outline": outline(graph),
        "relations": Facet("Relation", (FacetValue("derived", "7", "#", True), FacetValue("conflicts", "1", "#"))),
        "depths": (Tab("1", "#", True), Tab("2", "#"), Tab("3", "#")),
        "single": _drawn(_chain(1), drawing_id="single"),
        "wide": _drawn(_lattice(n_layers=14, n_each=9), drawing_id="wide"),
        "wide_graph": _lattice(n_layers=14, n_each=9),
        "sparks": _sparks(),
        "strips": _strips(),
        "timelines": _timelines(),
    }


def _drawn(graph: Graph, *, drawing_id: str) -> SafeString:
    return mark_safe(lineage_svg(graph, drawing_id=drawing_id))  # noqa: S308  (the drawing escapes what it is given)


def _node(node_id: str, label: str, *, kind: str = "record", state: str = "current", **marks: object) -> Node:
    return Node(id=node_id, label=label, kind=kind, state=state, url=f"/records/{node_id}", **marks)  # type: ignore[arg-type]


NODES = (
    _node("rec_origin", "Call with the customer, 2 Nov", depth=-2, is_on_path=True, n_hidden_up=4, expand_up_url="#"),
    _node("rec_erased", "erased by subject request", state="erased", depth=-1),
    _node("rec_note", "Refunds above 200 EUR need a second look", depth=0, is_focus=True, is_on_path=True),
    _node("rec_middle", "Summary of the call", depth=-1, is_on_path=True),
    _node("rec_old", "Refunds above 100 EUR need a second look", state="superseded", depth=-1),
    _node(
        "fact_limit",
        "refund_limit = 200 EUR",
        kind="fact",
        state="known",
        depth=1,
        n_hidden_down=12,
        expand_down_url="#",
    ),
    _node("fact_clash", "refund_limit = 150 EUR", kind="fact", state="conflict", depth=1),
    _node(
        "rule_gate",
        "Ask before a refund above the limit",
        kind="rule",
        state="active",
        depth=2,
        collapse_down_url="#",
    ),
    _node("act_refund", "Refund 180 EUR to customer 4411", kind="action", state="verified", depth=3),
    _node(
        "claim_enforced",
        "No refund passes the gate unseen",
        kind="claim",
        state="enforced",
        depth=3,
        change="added",
    ),
    _node("tomb_route", "Refund through the old payment door", kind="tombstone", state="retest_only", depth=2),
    _node(
        "run_4411",
        "Ticket 4411 <script>alert(1)</script> & \u202ecod",
        kind="run",
        state="finished",
        depth=2,
        change="removed",
    ),
)
LINKS = (
    Link("rec_origin", "rec_middle", is_on_path=True),
    Link("rec_middle", "rec_note", is_on_path=True),
    Link("rec_erased", "rec_note"),
    Link("rec_old", "rec_note", "supersedes"),
    Link("rec_note", "fact_limit"),
    Link("fact_clash", "fact_limit", "conflicts"),
    Link("fact_limit", "rule_gate"),
    Link("rule_gate", "act_refund", "verifies"),
    Link("rule_gate", "claim_enforced"),
    Link("rec_note", "tomb_route", "buries"),
    Link("rec_note", "run_4411", "refers"),
    Link("rec_origin", "act_refund"),
    Link("tomb_route", "act_refund"),
)


def _chain(n_nodes: int) -> Graph:
    nodes = tuple(_node(f"rec_{i:03}", f"Version {i + 1}", is_focus=i == 0) for i in range(n_nodes))
    links = tuple(Link(f"rec_{i:03}", f"rec_{i + 1:03}") for i in range(n_nodes - 1))
    return Graph(nodes=nodes, links=links, n_nodes_total=n_nodes, n_links_total=max(0, n_nodes - 1))


def _lattice(*, n_layers: int, n_each: int) -> Graph:
    """Many nodes, each resting on two or three earlier ones, some of them far back."""
    n_nodes = n_layers * n_each
    nodes = tuple(
        _node(f"rec_{i:03}", f"Observation {i}", kind=KINDS[i % 6], is_focus=i == n_nodes // 2) for i in range(n_nodes)
    )
    pairs = {(max(0, i - 1 - (i * 7) % (2 * n_each)), i) for i in range(1, n_nodes)}
    pairs |= {((i * 11) % i, i) for i in range(4, n_nodes, 3)}
    links = tuple(Link(f"rec_{a:03}", f"rec_{b:03}") for a, b in sorted(pairs))
    return Graph(nodes=nodes, links=links, n_nodes_total=n_nodes, n_links_total=len(links))


def _sparks() -> list[dict[str, object]]:
    busy = [3, 8, 0, 12, 15, 9, None, 4, 6, 20, 18, 0, 7, 11]
    rates = [
        SparkBar(day, 0.1 + 0.02 * i, f"{10 + 2 * i} %", low=0.05, high=0.2 + 0.02 * i) for i, day in enumerate(DAYS)
    ]
    rates[3] = SparkBar(DAYS[3], 1.0, "too few: 2 of 30", is_too_few=True)
    series = {
        "113 writes in 14 days, none recorded on 7 Nov": [
            SparkBar(day, value, "no data" if value is None else str(value))
            for day, value in zip(DAYS, busy, strict=True)
        ],
        "False-done rate 22 % (13 to 31 %), n = 318": rates,
        "One day of data": [SparkBar(DAYS[0], 4, "4")],
        "Nothing in this range": [SparkBar(day, None, "no data") for day in DAYS],
    }
    return [
        {
            "caption": caption,
            "svg": mark_safe(spark_svg(bars, title=caption)),  # noqa: S308  (the drawing escapes what it is given)
            "rows": [(bar.label, bar.words) for bar in bars],
        }
        for caption, bars in series.items()
    ]


def _strips() -> list[dict[str, object]]:
    outcomes: tuple[Outcome, ...] = ("holds", "broken", "holds", "undecidable", "not_run")
    with_gap: tuple[Outcome, ...] = ("holds", "not_run", "not_run", "holds", "undecidable")
    many = [
        Slot(f"run {n}", outcomes[n % 5], 1 + n * n % 17, f"{outcomes[n % 5]}, as run {n} found") for n in range(44)
    ]
    series = {
        "It has never run.": [],
        "Violations in 1 of the last 1 run.": [Slot("run 1", "broken", 3, "3 violations")],
        "No violation in the last 3 runs, and 2 days without one.": [
            Slot(f"run {n}", outcome, 0, outcome) for n, outcome in enumerate(with_gap)
        ],
        "Violations in 9 of the last 30 runs.": many,
    }
    return [
        {"caption": caption, "svg": mark_safe(violations_svg(slots, title=caption))}  # noqa: S308  (it escapes)
        for caption, slots in series.items()
    ]


def _on(days: float) -> datetime:
    return datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=days)


def _by(seq: int) -> Known:
    return Known(_on(2.5 * seq + 0.2), seq)


FEW = (
    Version("limit_a", "100 EUR", _on(2), None, _by(1), _by(4), state="superseded", ended_by="superseded by seq 4"),
    Version("limit_a", "100 EUR", _on(2), _on(20), _by(4)),
    Version("limit_b", "200 EUR <b>", _on(20), None, _by(4), _by(9), state="retracted", ended_by="retracted as wrong"),
    Version("limit_c", "250 EUR", _on(22), None, _by(9), claimed_at=_on(16)),
    Version("limit_d", "150 EUR", _on(25), _on(50), _by(6), href="#"),
    Version("limit_e", "erased", None, _on(1), _by(3), state="erased"),
    Version("limit_f", "not 90 EUR", _on(28), _on(44), _by(7), state="held"),
    Version("limit_g", "a moment", _on(30), _on(30), _by(5)),
)


def _timelines() -> list[dict[str, object]]:
    point = Point(_on(31), _by(10))
    many = tuple(
        Version(f"reading_{n}", f"{n % 9} open", _on(n / 3), _on(n / 3 + 1), _by(n), _by(n + 1), state="superseded")
        for n in range(1, 180)
    )
    pictures = {
        "none": Picture((), point),
        "one": Picture(FEW[4:5], point),
        "few": Picture(FEW, point, against=_by(4)),
        "few-ordinal": Picture(FEW, point, is_ordinal=True, is_claimed=True),
        "many": Picture(many, Point(_on(30), _by(90)), n_total=4_000, is_ordinal=True),
    }
    return [
        {"caption": title_of(picture), "svg": mark_safe(bitemporal_svg(picture, drawing_id=f"timeline-{name}"))}  # noqa: S308
        for name, picture in pictures.items()
    ]
