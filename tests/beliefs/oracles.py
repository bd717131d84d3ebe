"""Small graphs with their answers by listing every assignment, without any of the arithmetic of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
from hypothesis import strategies as st

from memory.beliefs.kernel.evidence import Evidence
from memory.beliefs.kernel.groups import Floats, Group, Indices
from memory.beliefs.kernel.planning import Structure

# As far as listing goes in a test.
MOST_LISTED = 4096


@dataclass(frozen=True)
class Graph:
    """A question with its values."""

    group: Group
    n: int
    root: int
    src: Indices
    dst: Indices
    log_factors: Floats
    priors: dict[int, Floats]

    @property
    def evidence(self) -> Evidence:
        ends = (self.src, self.dst)
        return Evidence(
            Structure(self.group, self.n, self.root, *ends, tuple(sorted(self.priors))),
            self.log_factors,
            {node: self.priors[node] for node in sorted(self.priors)},
        )

    @property
    def asked(self) -> dict[str, object]:
        return {
            "n": self.n, "root": self.root, "src": self.src, "dst": self.dst, "log_factors": self.log_factors,
            "priors": self.priors,
        }  # fmt: skip

    def with_edges(self, kept: list[int]) -> Graph:
        return Graph(self.group, self.n, self.root, self.src[kept], self.dst[kept], self.log_factors[kept], self.priors)


@dataclass(frozen=True)
class Listed:
    """The answer by listing; `first` is the lexicographically first of the best."""

    log_z: float
    marginals: Floats
    first: Indices
    best: float
    relations: Floats


def listed(graph: Graph) -> Listed:
    group, k = graph.group, graph.group.k
    labels = [[group.identity] if node == graph.root else range(k) for node in range(graph.n)]
    states = np.array(list(product(*labels)), dtype=np.intp).reshape(-1, graph.n)
    relations = group.table[group.inv[states[:, graph.src]], states[:, graph.dst]]
    scores = np.zeros(len(states))
    for edge, factor in enumerate(graph.log_factors):
        scores += factor[relations[:, edge]]
    for node, prior in graph.priors.items():
        scores += prior[states[:, node]]
    best = scores.max()
    if best == -np.inf:
        empty = np.empty((0, k))
        return Listed(best, empty, states[0], best, empty)
    log_z = best + np.log(np.exp(scores - best).sum())
    weights = np.exp(scores - log_z)
    first = int(np.flatnonzero(scores >= best - 1e-11)[0])
    return Listed(
        float(log_z),
        np.stack([np.bincount(states[:, node], weights, minlength=k) for node in range(graph.n)]),
        states[first],
        float(best),
        np.array([np.bincount(column, weights, minlength=k) for column in relations.T]).reshape(-1, k),
    )


@cache
def tables() -> tuple[tuple[str, Indices, int], ...]:
    """(name, table, identity): C1 to C8, S3, D4 and Q8 over the usual order of labels."""
    steps = [np.arange(k) for k in range(1, 9)]
    found = [(f"C{len(one)}", (one[:, None] + one) % len(one), 0) for one in steps]
    found.append(("S3", *_permutations([tuple(p) for p in permutations(range(3))])))
    turn, flip = (1, 2, 3, 0), (3, 2, 1, 0)
    found.append(("D4", *_permutations(_generated(turn, flip))))
    # The quaternions act on themselves: i and j as permutations of 1, i, -1, -i, j, k, -j, -k.
    found.append(("Q8", *_permutations(_generated((1, 2, 3, 0, 5, 6, 7, 4), (4, 7, 6, 5, 2, 1, 0, 3)))))
    return tuple(found)


def _generated(*generators: tuple[int, ...]) -> list[tuple[int, ...]]:
    found = [tuple(range(len(generators[0])))]
    for one in found:
        for generator in generators:
            product_ = tuple(one[place] for place in generator)
            if product_ not in found:
                found.append(product_)
    return found


def _permutations(elements: list[tuple[int, ...]]) -> tuple[Indices, int]:
    at = {one: index for index, one in enumerate(elements)}
    table = [[at[tuple(one[place] for place in other)] for other in elements] for one in elements]
    return np.array(table, dtype=np.intp), at[tuple(range(len(elements[0])))]


def relabelled(table: Indices, order: Indices) -> Group:
    """The same group with label i called order[i]: the identity may be any label."""
    back = np.argsort(order)
    moved = order[table[np.ix_(back, back)]]
    identity = int(np.flatnonzero((moved == np.arange(len(order))).all(axis=1))[0])
    return Group(moved, identity)


def random_graph(generator: np.random.Generator, *, table: Indices, kind: str, size: int) -> Graph:
    """A graph with loops, parallel edges and parts that do not hang together; one in three has node priors.

    kind : soft, hard (with zeros), coarse (with many equals), steep (factors of hundreds of nats).
    """
    group = relabelled(table, generator.permutation(len(table)))
    k, n = group.k, size
    while k ** (n - 1) > MOST_LISTED:
        n -= 1
    n_edges = int(generator.integers(0, 2 * n + 3))
    factors = np.log(generator.dirichlet(np.full(k, 0.4), n_edges) + 1e-9)
    if kind == "hard":
        zeros = generator.random(factors.shape) < 0.35
        factors[zeros & ~zeros.all(axis=1, keepdims=True)] = -np.inf
    elif kind == "coarse":
        # Equal products whose logs, summed in another order, differ by rounding.
        factors = np.log(generator.choice([0.1, 0.2, 0.7], size=factors.shape))
    elif kind == "steep":
        factors *= generator.choice([1, 100], size=(n_edges, 1))
    root, share = int(generator.integers(n)), generator.choice([0.0, 0.0, 0.4])
    hot = [node for node in range(n) if node != root and generator.random() < share]
    ends = generator.integers(0, n, (2, n_edges)).astype(np.intp)
    return Graph(group, n, root, *ends, factors, {node: np.log(generator.dirichlet(np.ones(k))) for node in hot})


@st.composite
def graphs(draw: st.DrawFn, kinds: tuple[str, ...] = ("soft", "hard", "coarse", "steep")) -> Graph:
    """Random graphs over random groups, all of them drawn from one seed."""
    _, table, _ = draw(st.sampled_from(tables()))
    kind, size, seed = draw(st.sampled_from(kinds)), draw(st.integers(1, 7)), draw(st.integers(0, 2**32))
    return random_graph(np.random.default_rng(seed), table=table, kind=kind, size=size)


def grid(generator: np.random.Generator, *, group: Group, rows: int, columns: int, strength: float) -> Graph:
    """A grid whose edges are drawn around a hidden assignment."""
    at = np.arange(rows * columns).reshape(rows, columns)
    src = np.concatenate((at[:, :-1].ravel(), at[:-1].ravel()))
    dst = np.concatenate((at[:, 1:].ravel(), at[1:].ravel()))
    hidden = generator.integers(group.k, size=rows * columns)
    q = generator.dirichlet(np.full(group.k, 1.0), len(src))
    q[np.arange(len(src)), group.relative[hidden[src], hidden[dst]]] += strength
    return Graph(group, rows * columns, 0, src, dst, np.log(q / q.sum(axis=1, keepdims=True)), {})
