"""What an answer may cost: plans, their cache, refusals, and the labelled answer beyond the budget."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from memory.beliefs.kernel.blocks import components
from memory.beliefs.kernel.cliques import solved
from memory.beliefs.kernel.draws import drawn
from memory.beliefs.kernel.engine import Contradiction, Inference, WidthExceeded, infer, predicted
from memory.beliefs.kernel.evidence import log_sums
from memory.beliefs.kernel.groups import cyclic
from memory.beliefs.kernel.intervals import Weighted, bounds
from memory.beliefs.kernel.merging import merge
from memory.beliefs.kernel.planning import N_KEPT, Plan, Refused, made, planned
from memory.beliefs.kernel.terms import Budget
from tests.beliefs.oracles import Graph, grid, random_graph, tables

pytestmark = pytest.mark.sqlite_only

C2, C4 = cyclic(2), cyclic(4)


def small_grid(seed: int, *, strength: float = 1.0, rows: int = 4, columns: int = 4) -> Graph:
    return grid(np.random.default_rng(seed), group=C4, rows=rows, columns=columns, strength=strength)


def test_the_cost_is_known_before_the_run_and_is_what_runs() -> None:
    graph = small_grid(0)
    ends = {"n": graph.n, "root": 0, "src": graph.src, "dst": graph.dst}
    before = predicted(C4, **ends)
    answer = infer(C4, **graph.asked)
    assert before.is_admissible
    assert (answer.width, answer.entries) == (before.width, before.total_entries)
    assert before.seconds > 0
    tight = predicted(C4, **ends, budget=Budget(largest_entries=before.largest_entries - 1))
    assert not tight.is_admissible


@pytest.mark.parametrize("limits", [{"largest_entries": 64}, {"total_entries": 700}])
def test_exact_over_the_budget_is_refused_with_its_numbers(limits: dict[str, int]) -> None:
    graph = small_grid(0)
    with pytest.raises(WidthExceeded) as refused:
        infer(C4, **graph.asked, budget=Budget(**limits), mode="exact")
    error = refused.value
    assert error.largest > limits.get("largest_entries", 0)
    assert error.total > limits.get("total_entries", 0)
    assert error.largest <= 4 ** (error.width + 1)
    assert str(error.largest) in str(error)


def test_many_large_cliques_are_refused_though_each_one_fits() -> None:
    # A ladder of blocks: no clique is large, their sum is.
    graph = small_grid(0, rows=3, columns=40)
    cost = predicted(C4, n=graph.n, root=0, src=graph.src, dst=graph.dst)
    budget = Budget(cost.largest_entries, cost.total_entries - 1)
    assert not predicted(C4, n=graph.n, root=0, src=graph.src, dst=graph.dst, budget=budget).is_admissible


def test_a_law_of_64_labels_at_width_3_is_refused_and_at_width_2_kept_as_matrices() -> None:
    group = cyclic(64)
    complete = [(one, other) for one in range(5) for other in range(one)]
    src, dst = np.array(complete).T
    wide = predicted(group, n=5, root=0, src=src, dst=dst)
    assert (wide.is_admissible, wide.width, wide.largest_entries) == (False, 3, 64**4)
    narrow = predicted(group, n=4, root=0, src=src[:6], dst=dst[:6])
    assert (narrow.is_admissible, narrow.width, narrow.largest_entries) == (True, 2, 3 * 64 * 64)
    generator = np.random.default_rng(0)
    factors = np.log(generator.dirichlet(np.full(64, 0.2), 6) + 1e-12)
    answer = infer(group, n=4, root=0, src=src[:6], dst=dst[:6], log_factors=factors)
    # The sum over the last two nodes of a complete graph of four, written out.
    tables_ = {(int(a), int(b)): np.exp(f)[group.relative] for a, b, f in zip(src, dst, factors, strict=False)}
    first = tables_[1, 0][:, 0][:, None] * tables_[2, 0][:, 0] * tables_[2, 1].T
    rest = np.einsum("c,ca,cb->ab", tables_[3, 0][:, 0], tables_[3, 1], tables_[3, 2])
    joint = first * rest
    assert answer.log_z == pytest.approx(np.log(joint.sum()), abs=1e-11)
    np.testing.assert_allclose(answer.marginals[1], joint.sum(axis=1) / joint.sum(), atol=1e-12)


def test_another_order_is_found_where_the_usual_one_is_too_wide() -> None:
    graph = grid(np.random.default_rng(0), group=C2, rows=12, columns=12, strength=1.0)
    structure, unlimited = graph.evidence.structure, Budget(1 << 60, 1 << 60)
    pairs = merge(graph.n, src=graph.src, dst=graph.dst)
    parts = components(graph.n, root=0, pairs=pairs)
    _, usual = solved(parts, root=0, pairs=pairs, k=2, budget=unlimited, tries_others=False)
    budget = Budget(largest_entries=1 << 13)
    assert usual.largest > budget.largest_entries
    assert isinstance(made(structure, budget=budget, tries_others=False), Refused)
    plan = made(structure, budget=budget)
    assert isinstance(plan, Plan)
    assert plan.cost.largest_entries <= budget.largest_entries
    _, free = log_sums(plan, log_factors=graph.log_factors[None], log_priors=np.empty((0, 2)))
    assert infer(C2, **graph.asked, wants="marginals").log_z == pytest.approx(free[0], abs=1e-10)


def test_a_dense_graph_is_refused_without_trying_every_order() -> None:
    ends = np.random.default_rng(0).integers(256, size=(2, 4096))
    cost = predicted(C4, n=256, root=0, src=ends[0], dst=ends[1])
    assert not cost.is_admissible


def test_plans_are_kept_by_structure_and_shared_by_threads() -> None:
    graph = small_grid(7)
    structure, budget = graph.evidence.structure, Budget()
    kept = planned(structure, budget=budget)
    again = replace(structure, src=structure.src.copy(), group=cyclic(4))
    assert planned(again, budget=budget) is kept
    assert planned(replace(structure, root=1), budget=budget) is not kept
    assert planned(replace(structure, prior_nodes=(3,)), budget=budget) is not kept
    assert planned(structure, budget=Budget(largest_entries=1 << 20)) is not kept
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda seed: infer(C4, **small_grid(seed % 4).asked), range(32)))
    for seed, answer in enumerate(answers):
        assert answer.marginals.tolist() == answers[seed % 4].marginals.tolist()
    small = replace(structure, src=structure.src[:1], dst=structure.dst[:1])
    for n in range(2, N_KEPT + 3):
        planned(replace(small, n=n), budget=budget)
    assert planned(structure, budget=budget) is not kept


def test_draws_follow_the_exact_marginals() -> None:
    for name, table, _ in tables()[3:11:3]:
        graph = random_graph(np.random.default_rng(2), table=table, kind="soft", size=7)
        plan = made(graph.evidence.structure, budget=Budget())
        assert isinstance(plan, Plan)
        answer = infer(graph.group, **graph.asked)
        up, _ = log_sums(plan, log_factors=graph.log_factors[None], log_priors=graph.evidence.log_priors)
        states = drawn(plan, up=up, size=20_000, generator=np.random.default_rng(1))
        shares = np.stack([np.bincount(row, minlength=graph.group.k) for row in states]) / 20_000
        np.testing.assert_allclose(shares, answer.marginals, atol=0.02, err_msg=name)
        relations = graph.group.relative[states[graph.src], states[graph.dst]]
        shares = np.stack([np.bincount(row, minlength=graph.group.k) for row in relations]) / 20_000
        np.testing.assert_allclose(shares, answer.edge_posterior, atol=0.02, err_msg=name)


def beyond(graph: Graph, *, largest: int = 64, samples: int = 4000, seed: int = 0) -> Inference:
    return infer(graph.group, **graph.asked, budget=Budget(largest_entries=largest, samples=samples), seed=seed)


def test_the_answer_beyond_the_budget_repeats_and_says_what_it_left_out() -> None:
    graph = small_grid(1)
    one, same, other = beyond(graph), beyond(graph), beyond(graph, seed=1)
    assert one.method == "subgraph"
    assert not one.is_exact
    assert one.marginals.tolist() == same.marginals.tolist()
    assert one.log_z_interval == same.log_z_interval
    assert one.marginals.tolist() != other.marginals.tolist()
    assert one.dropped_edges == other.dropped_edges != ()
    rest = [edge for edge in range(len(graph.src)) if edge not in one.dropped_edges]
    within = predicted(C4, n=graph.n, root=0, src=graph.src[rest], dst=graph.dst[rest])
    assert (within.width, within.total_entries) == (one.width, one.entries)
    assert within.largest_entries <= 64
    np.testing.assert_allclose(one.marginals.sum(axis=1), 1.0, atol=1e-12)
    assert one.marginals[0].tolist() == one.lower[0].tolist() == one.upper[0].tolist() == [1, 0, 0, 0]
    exact = infer(C4, **graph.asked)
    assert one.map_states.tolist() == exact.map_states.tolist()
    assert one.map_score == pytest.approx(exact.map_score)
    assert one.log_z_interval[0] <= exact.log_z <= one.log_z_interval[1]
    assert one.log_z == pytest.approx(exact.log_z, abs=0.2)
    np.testing.assert_allclose(one.edge_posterior, exact.edge_posterior, atol=0.1)


def test_labels_follow_draws_and_intervals() -> None:
    graph = small_grid(3, strength=0.0, rows=6, columns=6)
    few, some, many = (beyond(graph, samples=samples) for samples in (300, 4000, 20_000))
    assert [answer.certainty for answer in (few, some, many)] == ["unreliable", "uncertified", "certified"]
    assert few.effective_samples < 500 <= some.effective_samples < many.effective_samples
    assert (many.upper - many.lower).max() <= 0.25 < (some.upper - some.lower).max()


def test_a_contradiction_beyond_the_budget_is_named() -> None:
    graph = small_grid(1)
    hard = np.full((3, 4), -np.inf)
    hard[[0, 1, 2], [1, 1, 1]] = 0.0
    src, dst = np.append(graph.src, [0, 1, 0]), np.append(graph.dst, [1, 2, 2])
    with pytest.raises(Contradiction) as refused:
        infer(
            C4, n=graph.n, root=0, src=src, dst=dst, log_factors=np.vstack((graph.log_factors, hard)),
            budget=Budget(largest_entries=64),
        )  # fmt: skip
    n_edges = len(graph.src)
    assert refused.value.edges == (n_edges, n_edges + 1, n_edges + 2)
    # Parallel edges that leave nothing possible, wherever they stand.
    src, dst, hard = np.append(graph.src, [9, 9]), np.append(graph.dst, [10, 10]), hard[:2].copy()
    hard[1] = hard[0][::-1]
    with pytest.raises(Contradiction) as refused:
        infer(
            C4, n=graph.n, root=0, src=src, dst=dst, log_factors=np.vstack((graph.log_factors, hard)),
            budget=Budget(largest_entries=64),
        )  # fmt: skip
    assert refused.value.edges == (n_edges, n_edges + 1)


def test_bounds_are_those_of_the_theorem_for_every_label_and_what_is_not_it() -> None:
    generator = np.random.default_rng(0)
    size, k, delta, most = 900, 3, 0.05, 1.5
    states, weights = generator.integers(k, size=(2, size)), generator.random(size)
    found = bounds(Weighted(states, weights, 0.0, most), k=k, delta=delta)
    log_term = np.log(4 * (2 * 2 * k + 1) / delta)

    def reach(x: np.ndarray) -> float:
        return np.sqrt(2 * x.var(ddof=1) * log_term / size) + 7 * most * log_term / (3 * (size - 1))

    for node, label in np.ndindex(2, k):
        own, rest = (weights * ((states[node] == label) == same) for same in (True, False))
        low, high = own.mean() - reach(own), own.mean() + reach(own)
        assert found.lower[node, label] == pytest.approx(low / (low + rest.mean() + reach(rest)))
        assert found.upper[node, label] == pytest.approx(high / (high + rest.mean() - reach(rest)))
    assert found.total == pytest.approx((weights.mean() - reach(weights), weights.mean() + reach(weights)))


def coverage(n_grids: int) -> tuple[int, int]:
    """(intervals that hold the exact marginal, intervals) over all nodes and labels of all grids."""
    held = total = 0
    for seed in range(n_grids):
        graph = small_grid(seed, strength=[0.0, 0.5, 2.0][seed % 3], rows=3 + seed % 2, columns=4)
        answer, exact = beyond(graph, samples=1500, seed=seed), infer(C4, **graph.asked, wants="marginals")
        inside = (answer.lower <= exact.marginals + 1e-12) & (exact.marginals <= answer.upper + 1e-12)
        held, total = held + int(inside[1:].sum()), total + inside[1:].size
        if answer.effective_samples > 1000:
            assert np.abs(answer.marginals - exact.marginals).sum(axis=1).max() / 2 < 0.1
    return held, total


def test_intervals_hold_what_they_are_to_hold() -> None:
    held, total = coverage(12)
    assert held >= 0.95 * total


@pytest.mark.slow
def test_intervals_of_a_hundred_grids_hold_what_they_are_to_hold() -> None:
    held, total = coverage(100)
    assert held >= 0.95 * total
