"""What lies at the edges of the engine: hard zeros, underflow, nothing to say, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from memory.beliefs.kernel import contradictions
from memory.beliefs.kernel.engine import Contradiction, InvalidInput, conflicting_set, infer
from memory.beliefs.kernel.factors import compat_log_factors, log_prior, strict_log_factors
from memory.beliefs.kernel.groups import Group, cyclic, group_of
from tests.beliefs.oracles import Graph, listed

pytestmark = pytest.mark.sqlite_only

C4 = cyclic(4)


def sure(label: int, *, k: int = 4) -> list[float]:
    """A hard zero everywhere but at the label."""
    return [0.0 if one == label else -np.inf for one in range(k)]


def test_many_parallel_edges_that_balance_leave_it_even() -> None:
    vectors = [[1.0, 0.0], [0.0, 1.0]] * 250
    factors = compat_log_factors(vectors, mu=np.full((500, 2), 0.5), trust=np.ones(500), hard_top1=False)
    answer = infer(cyclic(2), n=2, root=0, src=np.zeros(500, int), dst=np.ones(500, int), log_factors=factors)
    np.testing.assert_allclose(answer.marginals[1], [0.5, 0.5], atol=1e-9)
    # Without one of them the other side has one more.
    assert answer.cavity[0, 1] == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(answer.loo_log_z - answer.log_z, math.log(0.5e12), atol=1e-8)
    assert answer.map_states.tolist() == [0, 0]


@pytest.mark.parametrize("n", [3, 12])
def test_logs_below_the_range_of_a_float_stay_finite_and_are_left_out_rightly(n: int) -> None:
    generator = np.random.default_rng(n)
    factors = -3450.0 * generator.random((n, 4))
    src, dst = np.arange(n), (np.arange(n) + 1) % n
    answer = infer(C4, n=n, root=0, src=src, dst=dst, log_factors=factors)
    assert np.isfinite(answer.log_z)
    np.testing.assert_allclose(answer.marginals.sum(axis=1), 1.0, atol=1e-12)
    for edge in range(n):
        rest = factors.copy()
        rest[edge] = 0.0
        without = infer(C4, n=n, root=0, src=src, dst=dst, log_factors=rest)
        assert answer.loo_log_z[edge] == pytest.approx(without.log_z, rel=1e-12)
        np.testing.assert_allclose(answer.cavity[edge], without.edge_posterior[edge], atol=1e-9)


def test_a_loop_shifts_the_evidence_alone_and_has_a_conflict() -> None:
    factors = np.log([[0.1, 0.7, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1]])
    answer = infer(C4, n=2, root=0, src=[0, 1], dst=[1, 1], log_factors=factors)
    np.testing.assert_allclose(answer.marginals[1], [0.1, 0.7, 0.1, 0.1], atol=1e-12)
    assert answer.log_z == pytest.approx(math.log(0.1))
    assert answer.conflict_nats == pytest.approx([0.0, math.log(2.5)])
    assert answer.is_bridge.tolist() == [True, False]
    assert answer.cavity[1].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_nothing_but_nodes_is_even_and_counted() -> None:
    alone = infer(C4, n=1, root=0, src=[], dst=[], log_factors=[])
    assert (alone.log_z, alone.marginals.tolist(), alone.map_states.tolist()) == (0.0, [[1, 0, 0, 0]], [0])
    prior = np.log([0.1, 0.2, 0.3, 0.4])
    for n in (3, 300):
        apart = infer(C4, n=n, root=1, src=[], dst=[], log_factors=np.empty((0, 4)), priors={2: prior})
        assert apart.log_z == pytest.approx((n - 2) * math.log(4))
        np.testing.assert_allclose(apart.marginals[2], np.exp(prior))
        assert apart.map_states.tolist() == [0, 0, 3] + [0] * (n - 3)
    trivial = infer(cyclic(1), n=40, root=3, src=np.arange(39), dst=np.arange(1, 40), log_factors=np.zeros((39, 1)))
    assert (trivial.log_z, trivial.marginals.min(), trivial.conflict_nats.any()) == (0.0, 1.0, False)


def test_a_prior_beyond_a_bridge_gives_it_a_conflict() -> None:
    factors = np.log([[0.7, 0.1, 0.1, 0.1]])
    plain = infer(C4, n=2, root=0, src=[0], dst=[1], log_factors=factors)
    assert (plain.conflict_nats[0], plain.is_bridge[0]) == (0.0, True)
    prior = {1: np.log([0.01, 0.97, 0.01, 0.01])}
    for n in (2, 9):
        tied = infer(C4, n=n, root=0, src=[0], dst=[1], log_factors=factors, priors=prior)
        assert not tied.is_bridge[0]
        assert tied.conflict_nats[0] > 0.5


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("n", [3, 30])
def test_what_is_no_log_is_refused_with_its_edge_and_is_no_contradiction(value: float, n: int) -> None:
    factors = np.zeros((3, 4))
    factors[2, 1] = value
    with pytest.raises(InvalidInput, match="edge 2") as refused:
        infer(C4, n=n, root=0, src=[0, 1, 0], dst=[1, 2, 2], log_factors=factors)
    assert refused.value.edge == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"root": 3}, {"n": 0, "root": 0}, {"src": [0, 3]}, {"src": [-1, 0]}, {"src": [0]}, {"src": [0.5, 1.0]},
        {"log_factors": np.zeros((2, 3))}, {"priors": {0: np.zeros(4)}}, {"priors": {7: np.zeros(4)}},
        {"priors": {1: np.zeros(3)}}, {"priors": {1: np.full(4, -np.inf)}}, {"priors": {1: np.full(4, np.nan)}},
    ],
    ids=str,
)  # fmt: skip
def test_what_makes_no_question_is_refused(changed: dict[str, object]) -> None:
    asked = {"n": 3, "root": 0, "src": [0, 1], "dst": [1, 2], "log_factors": np.zeros((2, 4)), **changed}
    with pytest.raises(InvalidInput):
        infer(C4, **asked)


def test_contradictions_are_named_by_no_more_than_is_needed() -> None:
    # A hard triangle 1, 1 against 3, in the middle of what could hold.
    edges = [(5, 6, sure(2)), (0, 1, sure(1)), (1, 2, sure(1)), (2, 4, sure(0)), (0, 2, sure(3)), (1, 4, [0.0] * 4)]
    src, dst, factors = (list(column) for column in zip(*edges, strict=True))
    with pytest.raises(Contradiction) as refused:
        infer(C4, n=7, root=6, src=src, dst=dst, log_factors=factors)
    assert refused.value.edges == (1, 2, 4)
    with pytest.raises(Contradiction) as refused:
        infer(C4, n=2, root=0, src=[0, 0, 1], dst=[1, 1, 0], log_factors=[sure(0), [0.0] * 4, sure(1)])
    assert refused.value.edges == (0, 2)
    with pytest.raises(Contradiction) as refused:
        infer(C4, n=2, root=0, src=[0, 1], dst=[1, 1], log_factors=[[0.0] * 4, sure(1)])
    assert refused.value.edges == (1,)
    with pytest.raises(Contradiction) as refused:
        infer(
            C4, n=3, root=0, src=[1, 1], dst=[2, 2], log_factors=[sure(1), [0.0] * 4], priors={1: sure(0), 2: sure(0)}
        )
    assert refused.value.edges == (0,)


def test_a_near_contradiction_is_named_by_what_speaks_against_the_edge() -> None:
    vectors = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1], [0.0, 1.0, 0.0, 0.0]]
    mu = np.full((4, 4), 0.25)
    asked = {
        "n": 3, "root": 0, "src": [0, 0, 1, 2], "dst": [1, 1, 2, 0],
        "log_factors": compat_log_factors(vectors, mu=mu, trust=np.ones(4), hard_top1=False),
    }  # fmt: skip
    answer = infer(C4, **asked)
    assert answer.conflict_nats[0] > 20
    assert conflicting_set(C4, edge=0, **asked) == ((0, 1), True)
    assert conflicting_set(C4, edge=2, **asked).edges == ()
    # No less than its own strength, which all the others together have.
    assert conflicting_set(C4, edge=0, threshold_nats=float(answer.conflict_nats[0]) + 1e-9, **asked).edges == ()
    with pytest.raises(InvalidInput):
        conflicting_set(C4, edge=4, **asked)


def test_every_edge_of_a_near_contradiction_is_needed() -> None:
    # Here one edge is needed against all the others and not against those that are left: once through is not enough.
    generator = np.random.default_rng(10)
    n, n_edges = (int(generator.integers(*span)) for span in ((4, 8), (6, 14)))
    src = generator.integers(n, size=n_edges)
    dst = (src + generator.integers(1, n, size=n_edges)) % n
    q = generator.dirichlet(np.full(4, 0.15), n_edges) + 1e-5
    factors = compat_log_factors(q, mu=np.full_like(q, 0.25), trust=np.ones(n_edges), hard_top1=False)
    asked = {"n": n, "root": 0, "src": src, "dst": dst}
    conflicts = infer(C4, log_factors=factors, **asked).conflict_nats
    edge, threshold = int(conflicts.argmax()), float(conflicts.max()) * 0.6
    found = conflicting_set(C4, edge=edge, log_factors=factors, threshold_nats=threshold, **asked).edges
    assert {edge} < set(found)

    def strength(kept: list[int]) -> float:
        only = np.zeros_like(factors)
        only[kept] = factors[kept]
        return float(infer(C4, log_factors=only, **asked).conflict_nats[edge])

    assert strength([*found]) > threshold
    for other in set(found) - {edge}:
        assert strength([one for one in found if one != other]) <= threshold


def test_a_contradiction_among_thousands_is_found_by_halves_and_a_search_that_is_cut_short_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A grid of eight by eight with some forty edges on each of its pairs; only its first edge is odd.
    pairs = [(node, node + 1) for node in range(64) if node % 8 < 7] + [(node, node + 8) for node in range(56)]
    src, dst = (np.tile(column, 36) for column in np.array(pairs).T)
    factors = np.tile(sure(0, k=2), (len(src), 1))
    factors[0] = sure(1, k=2)
    asked = {"n": 64, "root": 0, "src": src, "dst": dst}
    runs: list[int] = []
    log_z = contradictions._Asked.log_z
    monkeypatch.setattr(contradictions._Asked, "log_z", lambda self, kept: runs.append(len(kept)) or log_z(self, kept))
    with pytest.raises(Contradiction) as refused:
        infer(cyclic(2), log_factors=factors, **asked)
    assert (len(refused.value.edges), refused.value.edges[0], refused.value.is_minimal) == (4, 0, True)
    assert len(runs) < 100, "one run for each edge would be thousands"
    likely = np.where(np.isfinite(factors), 0.0, -22.0)
    near = conflicting_set(cyclic(2), log_factors=likely, edge=0, **asked)
    assert (near.edges[0], near.is_minimal) == (0, True)
    assert len(near.edges) < 40
    monkeypatch.setattr(contradictions, "MOST_ENTRIES", 1)
    with pytest.raises(Contradiction) as refused:
        infer(cyclic(2), log_factors=factors, **asked)
    assert (len(refused.value.edges), refused.value.is_minimal) == (len(src), False)
    assert not conflicting_set(cyclic(2), log_factors=likely, edge=0, **asked).is_minimal


def test_no_trust_is_no_evidence_even_where_it_would_be_hard() -> None:
    q, mu = [[1.0, 0.0, 0.0, 0.0]], np.full((1, 4), 0.25)
    assert compat_log_factors(q, mu=mu, trust=[0.0], hard_top1=False).tolist() == [[0.0] * 4]
    assert strict_log_factors(q, mu=mu, trust=[0.0]).tolist() == [[0.0] * 4]
    assert strict_log_factors(q, mu=mu, trust=[0.5])[0].tolist() == [0.5 * math.log(4), -np.inf, -np.inf, -np.inf]


def test_factors_floor_keep_or_refuse_what_is_nought() -> None:
    q, mu = [[0.5, 0.5, 0.0, 0.0]], [[0.5, 0.25, 0.25, 0.0]]
    compatible = compat_log_factors(q, mu=mu, trust=[1.0], hard_top1=False)
    np.testing.assert_allclose(np.exp(compatible[0]), [0.25, 0.5, 1e-12, 0.25], rtol=1e-6)
    strict = strict_log_factors(q, mu=mu, trust=[1.0])
    assert np.exp(strict[0]).tolist() == pytest.approx([1.0, 2.0, 0.0, 1.0])
    softened = strict_log_factors(q, mu=mu, trust=[1.0], eps=0.01)
    assert np.exp(softened[0]).tolist() == pytest.approx([1.0, 1.99, 0.01, 1.0])
    outside = [[0.5, 0.5, 0.0, 0.0]], [[1.0, 0.0, 0.0, 0.0]]
    with pytest.raises(InvalidInput, match="edge 0"):
        strict_log_factors(outside[0], mu=outside[1], trust=[1.0])
    assert strict_log_factors(outside[0], mu=outside[1], trust=[1.0], outside="flag")[0, 1] == math.log(0.5e12)
    hard = compat_log_factors([[0.3, 0.4, 0.3]], mu=[[0.1, 0.8, 0.1]], trust=[1.0], hard_top1=True)
    np.testing.assert_allclose(np.exp(hard[0]), [5e-7, 1 - 1e-6, 5e-7])
    np.testing.assert_allclose(np.exp(log_prior([0.0, 3.0])), [1e-12 / 3, 1.0], rtol=1e-9)


def test_a_law_without_inverses_is_no_group_and_a_fingerprint_keeps_its_own() -> None:
    with pytest.raises(ValueError, match="inverse"):
        Group(np.zeros((2, 2), dtype=np.intp), 0)
    with pytest.raises(ValueError, match="none"):
        Group(np.zeros((2, 3), dtype=np.intp), 0)
    one = group_of("f", table=C4.table, identity=0)
    assert group_of("f", table=C4.table.tolist(), identity=0) is one
    assert one == C4
    assert one != cyclic(2)


def test_hard_zeros_are_kept_by_a_large_graph() -> None:
    edges = [(node, node + 1, sure(1)) for node in range(7)] + [(0, 7, [0.0, 0.0, -np.inf, -np.inf])]
    src, dst, factors = (list(column) for column in zip(*edges, strict=True))
    with pytest.raises(Contradiction) as refused:
        infer(C4, n=8, root=3, src=src, dst=dst, log_factors=factors)
    assert refused.value.edges == tuple(range(8))
    factors[-1] = [-np.inf, -np.inf, -1.0, -2.0]
    answer = infer(C4, n=8, root=3, src=src, dst=dst, log_factors=factors)
    graph = Graph(C4, 8, 3, np.array(src), np.array(dst), np.array(factors), {})
    assert answer.log_z == pytest.approx(listed(graph).log_z)
    assert answer.map_states.tolist() == [1, 2, 3, 0, 1, 2, 3, 0]
    # The last is the only one of which the others do not leave it certain what it says.
    np.testing.assert_allclose(answer.cavity[-1], [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(answer.loo_log_z[-1], 0.0, atol=1e-12)
