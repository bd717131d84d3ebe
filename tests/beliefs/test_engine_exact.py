"""Exact inference against listing every assignment, against itself under renaming, and against the peer."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posterior_memory_harness.inference import InferenceConfig, exact_inference
from posterior_memory_harness.laws import cyclic_law, s3_law
from posterior_memory_harness.models import MemoryObservation, MemoryQuery

from memory.beliefs.kernel.engine import Contradiction, Inference, infer
from memory.beliefs.kernel.enumeration import enumerated
from memory.beliefs.kernel.factored import factored_beliefs, factored_best, factored_sum
from memory.beliefs.kernel.factors import compat_log_factors, log_prior
from memory.beliefs.kernel.groups import Group, cyclic
from memory.beliefs.kernel.planning import Plan, made
from memory.beliefs.kernel.running import ran
from memory.beliefs.kernel.sums import PIECE_ENTRIES, reduced
from memory.beliefs.kernel.terms import Budget
from tests.beliefs.cases import law_named, recorded
from tests.beliefs.oracles import Graph, graphs, grid, listed, random_graph, tables

pytestmark = pytest.mark.sqlite_only


def by_tree(graph: Graph) -> Inference:
    """The answer by junction tree, however small the graph is."""
    plan = made(graph.evidence.structure, budget=Budget())
    assert isinstance(plan, Plan)
    return ran(plan, evidence=graph.evidence, wants="full")


def assert_is_listed(graph: Graph, answer: Inference) -> None:
    expected = listed(graph)
    scale = max(1.0, abs(expected.log_z))
    assert answer.log_z == pytest.approx(expected.log_z, abs=1e-12 * scale)
    np.testing.assert_allclose(answer.marginals, expected.marginals, atol=1e-12)
    np.testing.assert_allclose(answer.marginals.sum(axis=1), 1.0, atol=1e-12)
    assert answer.marginals.min() >= 0.0
    assert answer.marginals.max() <= 1.0
    assert answer.marginals[graph.root].tolist() == np.eye(graph.group.k)[graph.group.identity].tolist()
    assert answer.map_score == pytest.approx(expected.best, abs=1e-12 * scale)
    assert answer.map_states.tolist() == expected.first.tolist()
    np.testing.assert_allclose(answer.edge_posterior, expected.relations.reshape(-1, graph.group.k), atol=1e-12)


def assert_each_is_left_out(graph: Graph, answer: Inference) -> None:
    """Leave-one-out, cavity and conflict of every edge equal a run without it."""
    means = np.log(np.exp(graph.log_factors).mean(axis=1))
    for edge in range(len(graph.src)):
        rest = graph.log_factors.copy()
        rest[edge] = 0.0
        without = listed(replace(graph, log_factors=rest))
        scale = max(1.0, abs(without.log_z), abs(answer.log_z))
        assert answer.loo_log_z[edge] == pytest.approx(without.log_z, abs=1e-12 * scale)
        np.testing.assert_allclose(answer.cavity[edge], without.relations[edge], atol=1e-12)
        conflict = without.log_z + means[edge] - answer.log_z
        # The mean of a factor far below one is taken in linear numbers here.
        assert answer.conflict_nats[edge] == pytest.approx(conflict, abs=1e-9 * scale) or np.isinf(means[edge])
        assert not answer.is_bridge[edge] or answer.conflict_nats[edge] == 0.0


def assert_is_minimal(graph: Graph, edges: tuple[int, ...]) -> None:
    kept = list(edges)
    assert listed(graph).log_z == -np.inf
    assert listed(graph.with_edges(kept)).log_z == -np.inf
    for edge in kept:
        assert listed(graph.with_edges([other for other in kept if other != edge])).log_z > -np.inf


def check(graph: Graph) -> None:
    try:
        answer = by_tree(graph)
    except Contradiction as refused:
        assert_is_minimal(graph, refused.edges)
        return
    assert_is_listed(graph, answer)
    assert_each_is_left_out(graph, answer)
    if np.isfinite(graph.log_factors).all():
        other = enumerated(graph.evidence, wants="full")
        assert_is_listed(graph, other)
        for name in ("cavity", "loo_log_z", "conflict_nats", "is_bridge"):
            np.testing.assert_allclose(getattr(other, name), getattr(answer, name), rtol=1e-12, atol=1e-12)
        briefly = enumerated(graph.evidence, wants="marginals")
        assert briefly.marginals.tolist() == other.marginals.tolist()


@given(graphs())
def test_both_exact_ways_equal_the_listing_of_every_assignment(graph: Graph) -> None:
    check(graph)


@pytest.mark.parametrize("kind", ["soft", "hard", "coarse", "steep"])
def test_they_do_so_over_every_group(kind: str) -> None:
    generator = np.random.default_rng(len(kind))
    for name, table, _ in tables():
        for size in (2, 4, 5, 7):
            graph = random_graph(generator, table=table, kind=kind, size=size)
            try:
                check(graph)
            except AssertionError as failed:
                raise AssertionError(f"{name}, {kind}, {size} nodes: {graph}") from failed


def test_what_only_rounding_parts_is_equal() -> None:
    rounded = set()
    ends = np.zeros(4, dtype=np.intp), np.ones(4, dtype=np.intp)
    for order in permutations([np.roll(np.log([0.1, 0.2, 0.3, 0.4]), turn) for turn in range(4)]):
        graph = Graph(cyclic(4), 2, 0, *ends, np.array(order), {})
        rounded.add(int(np.add.reduce(graph.log_factors).argmax()))
        assert by_tree(graph).map_states.tolist() == [0, 0]
        assert enumerated(graph.evidence, wants="full").map_states.tolist() == [0, 0]
    assert rounded != {0}


@given(graphs(kinds=("soft", "steep")), st.integers(0, 2**32))
def test_renaming_reordering_and_reversal_change_nothing(graph: Graph, seed: int) -> None:
    generator = np.random.default_rng(seed)
    nodes, edges = generator.permutation(graph.n), generator.permutation(len(graph.src))
    backwards = generator.random(len(edges)) < 0.5
    src, dst, factors = nodes[graph.src[edges]], nodes[graph.dst[edges]], graph.log_factors[edges].copy()
    factors[backwards] = factors[backwards][:, graph.group.inv]
    src[backwards], dst[backwards] = dst[backwards], src[backwards].copy()
    priors = {int(nodes[node]): values for node, values in graph.priors.items()}
    moved = by_tree(Graph(graph.group, graph.n, int(nodes[graph.root]), src, dst, factors, priors))
    answer = by_tree(graph)
    scale = max(1.0, abs(answer.log_z))
    assert moved.log_z == pytest.approx(answer.log_z, abs=1e-12 * scale)
    np.testing.assert_allclose(moved.marginals[nodes], answer.marginals, atol=1e-12)
    np.testing.assert_allclose(moved.conflict_nats, answer.conflict_nats[edges], atol=1e-11 * scale)
    assert moved.is_bridge.tolist() == answer.is_bridge[edges].tolist()
    expected = answer.edge_posterior[edges]
    expected[backwards] = expected[backwards][:, graph.group.inv]
    np.testing.assert_allclose(moved.edge_posterior, expected, atol=1e-12)


@given(graphs(kinds=("soft",)), st.integers(0, 6))
def test_without_priors_the_relations_do_not_depend_on_the_root(graph: Graph, root: int) -> None:
    free = replace(graph, priors={})
    one, other = by_tree(free), by_tree(replace(free, root=root % graph.n))
    assert one.log_z == pytest.approx(other.log_z, abs=1e-12 * max(1.0, abs(one.log_z)))
    np.testing.assert_allclose(one.edge_posterior, other.edge_posterior, atol=1e-12)
    np.testing.assert_allclose(one.conflict_nats, other.conflict_nats, atol=1e-11)


@pytest.mark.parametrize("steepness", [1.0, 100.0, np.inf])
def test_two_matrices_say_what_the_table_says(steepness: float) -> None:
    generator = np.random.default_rng(3)
    first, second = (np.log(generator.dirichlet(np.full(9, 0.3), (9, 4)).transpose(2, 0, 1) + 1e-12) for _ in "ab")
    if np.isinf(steepness):
        first[generator.random(first.shape) < 0.6] = -np.inf
        first[:, 0, 0] = -np.inf
    else:
        first, second = first * steepness, second * steepness
    table = (first[:, :, None] + second[:, None])[None]
    flat = table.reshape(1, 9, 81, 4).copy()
    np.testing.assert_allclose(factored_best(first, second), table[0].max(axis=0))
    kept = factored_sum(first, second)
    message = reduced(flat, n_sums=1, is_hard=True).reshape(9, 9, 4)
    np.testing.assert_allclose(kept.message, message, rtol=1e-13, atol=1e-12)
    assert kept.is_scaled.all() == (steepness == 1.0)
    over = generator.random((9, 9, 4)) * (message > -np.inf)
    joint = flat.reshape(9, 9, 9, 4) * over
    pairs = factored_beliefs(kept, over)
    np.testing.assert_allclose(pairs[0], joint.sum(axis=2), atol=1e-13)
    np.testing.assert_allclose(pairs[1], joint.sum(axis=1), atol=1e-13)


def test_a_table_in_pieces_says_what_it_says_whole() -> None:
    rows, columns = 13, 14
    graph = grid(np.random.default_rng(0), group=cyclic(2), rows=rows, columns=columns, strength=1.0)
    answer = by_tree(graph)
    assert answer.entries > PIECE_ENTRIES
    # Column by column, over all states of one: another way to the same sum.
    ends = zip(graph.src.tolist(), graph.dst.tolist(), strict=True)
    factors = dict(zip(ends, np.exp(graph.log_factors), strict=True))
    bits = (np.arange(1 << rows)[:, None] >> np.arange(rows)) & 1
    log_z, weights = 0.0, (bits[:, 0] == 0).astype(float)
    for column in range(columns):
        at = np.arange(rows) * columns + column
        for row in range(rows - 1):
            weights = weights * factors[at[row], at[row + 1]][bits[:, row] ^ bits[:, row + 1]]
        for row in range(rows if column < columns - 1 else 0):
            same, other = factors[at[row], at[row] + 1]
            weights = same * weights + other * weights.reshape(-1, 2, 1 << row)[:, ::-1].reshape(-1)
        log_z, weights = log_z + np.log(weights.sum()), weights / weights.sum()
    assert answer.log_z == pytest.approx(log_z, abs=1e-10)


@pytest.mark.parametrize(("law", "n"), [("C2", 9), ("C4", 6), ("C5", 4), ("S3", 5)])
@pytest.mark.parametrize("hard_top1", [False, True])
def test_the_peer_gives_the_same_wherever_it_is_exact(law: str, n: int, *, hard_top1: bool) -> None:
    theirs = s3_law() if law == "S3" else cyclic_law(int(law[1:]))
    group, generator = Group(theirs.table, theirs.identity), np.random.default_rng(n)
    k, n_edges = group.k, n + 3
    names = [f"node-{node}" for node in range(n)]
    src, dst = generator.integers(n, size=(2, n_edges))
    q, mu = generator.dirichlet(np.full(k, 0.5), (2, n_edges))
    trust = generator.random(n_edges)
    priors = {int(node): generator.dirichlet(np.ones(k)) for node in generator.permutation(np.arange(1, n))[:2]}
    observations = tuple(
        MemoryObservation(
            f"o{edge}", "ns", "r", names[src[edge]], names[dst[edge]], tuple(q[edge]), tuple(mu[edge]), f"f{edge}",
            trust=float(trust[edge]),
        )
        for edge in range(n_edges)
    )  # fmt: skip
    query = MemoryQuery(
        "ns", "r", tuple(names), names[0], 1.0, hard_top1=hard_top1,
        node_priors={names[node]: tuple(values) for node, values in priors.items()},
    )  # fmt: skip
    expected = exact_inference(theirs, query, observations, InferenceConfig(max_exact_assignments=10**6))
    factors = compat_log_factors(q, mu=mu, trust=trust, hard_top1=hard_top1)
    logs = {node: log_prior(values) for node, values in priors.items()}
    answer = infer(group, n=n, root=0, src=src, dst=dst, log_factors=factors, priors=logs)
    assert answer.log_z == pytest.approx(expected.log_evidence, abs=1e-9)
    np.testing.assert_allclose(answer.marginals, expected.marginals, atol=1e-9)
    assert answer.map_states.tolist() == expected.map_assignment.tolist()


@pytest.mark.parametrize(("slip", "nats"), [(1e-6, 12.4), (1e-8, 17.0)])
def test_one_bad_edge_is_blamed_where_a_narrow_search_blames_four_good_ones(slip: float, nats: float) -> None:
    def vector(label: int, mass: float) -> list[float]:
        return [mass if one == label else (1.0 - mass) / 3 for one in range(4)]

    edges = [(0, 1, vector(0, 1.0 - 3 * slip))]
    edges += [(0, node, vector(0, 0.95)) for node in range(2, 18)]
    edges += [(0, node, vector(2, 0.9995)) for node in range(18, 22)]
    edges += [(1, node, vector(1, 0.9995)) for node in range(18, 22)]
    q = np.array([edge[2] for edge in edges])
    factors = compat_log_factors(q, mu=np.full_like(q, 0.25), trust=np.ones(len(q)), hard_top1=False)
    src, dst = [edge[0] for edge in edges], [edge[1] for edge in edges]
    answer = infer(cyclic(4), n=22, root=0, src=src, dst=dst, log_factors=factors)
    np.testing.assert_allclose(answer.marginals[1], [0, 1, 0, 0], atol=1e-3)
    assert np.flatnonzero(answer.conflict_nats > 0).tolist() == [0]
    assert answer.conflict_nats[0] == pytest.approx(nats, abs=0.05)
    inferred = cyclic(4).relative[answer.map_states[src], answer.map_states[dst]]
    assert np.flatnonzero(inferred != q.argmax(axis=1)).tolist() == [0]


@pytest.mark.parametrize("case", recorded("beam_vs_exact"), ids=lambda case: case["id"])
def test_answers_that_the_peer_calls_stable_and_are_not_are_exact_here(case: dict[str, object]) -> None:
    law, nodes, told = law_named(case["law"]), case["nodes"], case["observations"]
    q, mu = (np.array([row[name] for row in told]) for name in ("posterior", "prior"))
    factors = compat_log_factors(q, mu=mu, trust=np.ones(len(q)), hard_top1=False)
    src, dst = ([nodes.index(row[end]) for row in told] for end in ("source", "target"))
    group = Group(np.array(law.table), law.identity)
    answer = infer(group, n=len(nodes), root=nodes.index(case["root"]), src=src, dst=dst, log_factors=factors)
    assert answer.certainty == "exact"
    np.testing.assert_allclose(answer.marginals, [case["exact_marginals"][node] for node in nodes], atol=1e-9)
