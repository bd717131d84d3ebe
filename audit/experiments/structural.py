"""Which five observations to use: the newest are clutter, and the policy decides whether anything else is seen.

Five edges say something, five later ones say nothing. `recent` takes the clutter; `coverage` a spanning forest and then
the newest; `cycle_aware` the forest and then what closes cycles.

Source: the design and the published figures of posterior-memory-harness 0.9.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from audit.experiments.beside import observations
from audit.experiments.drawing import LAW, S3, Edges, Episodes, drawn, ranked
from audit.experiments.scoring import Scores, gain, mean, scores
from audit.experiments.size import Size
from audit.experiments.solving import solved
from audit.experiments.tables import Cell, Column, Table, share
from audit.peer import peer
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.questions import POLICIES, Policy
from memory.beliefs.kernel.retrieval import LightEdge, Retrieved, information_score, retrieve_listed

NODES = ("start", "c1", "c2", "c3")
EDGES: Edges = ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))
N_EPISODES = 200
FIRST_SEED = 2_000
LIMIT = 5
CLUTTER: Edges = ((0, 1),) * 5
OBSERVED_AT = (0, 1, 2, 3, 4, 100, 101, 102, 103, 104)
PUBLISHED = {"recent": "16.34", "coverage": "81.57", "cycle_aware": "96.27"}
PUBLISHED_GAIN = {"recent": "[78.77, 81.10]"}

COLUMNS = (
    Column("policy", "policy"), share("accuracy", "nodes right, %"), Column("cycle_rank", "cycle rank", ".1f"),
    share("covered", "nodes covered, %", form=".0f"), Column("factor_information", "information", ".3f"),
    Column("cycle_information", "information in cycles", ".4f"), Column("published", "published accuracy, %"),
)  # fmt: skip
GAIN = (
    Column("over", "cycle_aware over"), share("gain", "points"), share("interval", "95 %"),
    Column("published", "published 95 %"),
)  # fmt: skip


@dataclass(slots=True)
class Found:
    """What a policy came to: scores of each seed, and the shape of what it chose, one row for each episode."""

    scores: list[Scores] = field(default_factory=list)
    shapes: list[tuple[float, float, float, float]] = field(default_factory=list)


def run(size: Size) -> tuple[Table, ...]:
    """The policies, what the last gains on the others, and on demand whether the peer chooses and answers the same."""
    found = {policy: Found() for policy in POLICIES}
    local = list[float]()
    for number in range(size.n_seeds):
        episodes = episodes_of(number)
        local.append(float((episodes.posteriors.argmax(axis=2) == episodes.truth).mean()))
        for policy, told in found.items():
            chosen = [retrieved(rows, policy) for rows in episodes.posteriors]
            told.scores.append(scores(answered(episodes, chosen), episodes.states))
            told.shapes += [_shape(one) for one in chosen]
    caption = (
        f"Five of ten observations, {size.n_seeds} seeds of {N_EPISODES} episodes;"
        f" the best label of an edge is right in {np.mean(local):.2%}:"
    )
    policies = Table("policies", caption, COLUMNS, tuple(_rows(found)))
    gains = Table("gain", "What closing cycles gains in accuracy:", GAIN, tuple(_gains(found)))
    return policies, gains, *([_beside(size)] if size.is_beside_peer else [])


def episodes_of(number: int) -> Episodes:
    """Those of one seed; only the edges that say something are drawn."""
    posterior_of = ranked(lambda d: (0.85 + d, 0.145 - d, 0.003, *(0.002 / 3,) * 3), spread=0.08)
    return drawn(
        FIRST_SEED + number, n_nodes=len(NODES), edges=EDGES, n_episodes=N_EPISODES, posterior_of=posterior_of
    )  # fmt: skip


def cluttered(posteriors: Floats) -> Floats:
    """The posteriors (10, S) of an episode with those of the clutter."""
    return np.concatenate([posteriors, np.full((len(CLUTTER), S3.k), 1.0 / S3.k)])


def retrieved(posteriors: Floats, policy: Policy) -> Retrieved:
    """What a policy takes of the ten observations.   posteriors : (5, S)."""
    told = zip((*EDGES, *CLUTTER), cluttered(posteriors), OBSERVED_AT, strict=True)
    edges = [
        LightEdge(f"o{place}", source, target, float(at), information_score(row, None, trust=1.0), place)
        for place, ((source, target), row, at) in enumerate(told)
    ]
    return retrieve_listed(edges, nodes=range(len(NODES)), root=0, limit=LIMIT, policy=policy, profile="native")


def answered(episodes: Episodes, chosen: list[Retrieved]) -> Floats:
    """Exact marginals (N, n, S) from what was chosen."""
    found = np.empty((len(chosen), len(NODES), S3.k))
    for episode, one in enumerate(chosen):
        places = [int(edge.observation_id[1:]) for edge in one.edges]
        rows = cluttered(episodes.posteriors[episode])[places]
        edges = tuple((*EDGES, *CLUTTER)[place] for place in places)
        found[episode] = solved(S3, rows[None], edges=edges, n_nodes=len(NODES))[0]
    return found


def _shape(one: Retrieved) -> tuple[float, float, float, float]:
    shape = one.structure
    return (
        shape.cycle_rank, shape.covered_node_fraction, shape.factor_information_score, shape.cycle_information_score,
    )  # fmt: skip


def _rows(found: dict[Policy, Found]) -> Iterator[tuple[Cell, ...]]:
    for policy, told in found.items():
        shape = np.mean(told.shapes, axis=0).tolist()
        yield (policy, mean(told.scores, "accuracy"), *shape, PUBLISHED[policy])


def _gains(found: dict[Policy, Found]) -> Iterator[tuple[Cell, ...]]:
    for policy in POLICIES[:-1]:
        difference, interval = gain(found["cycle_aware"].scores, found[policy].scores)
        yield (policy, difference, interval, PUBLISHED_GAIN.get(policy))


def _beside(size: Size) -> Table:
    """In how many episodes the peer uses other observations, and how far its exact marginals are."""
    columns = (
        Column("policy", "policy"), Column("episodes", "episodes"), Column("other_choice", "other choice"),
        Column("largest_difference", "largest difference", ".1e"),
    )  # fmt: skip
    rows = list[tuple[Cell, ...]]()
    for policy in POLICIES:
        n_other, worst = 0, 0.0
        for number in range(size.n_seeds):
            episodes = episodes_of(number)
            chosen = [retrieved(rows, policy) for rows in episodes.posteriors]
            answers = answered(episodes, chosen)
            for posteriors, ours, answer in zip(episodes.posteriors, chosen, answers, strict=True):
                used, theirs = of_peer(posteriors, policy)
                n_other += used != {edge.observation_id for edge in ours.edges}
                worst = max(worst, float(np.abs(theirs - answer).max()))
        rows.append((policy, size.n_seeds * N_EPISODES, n_other, worst))
    return Table("beside the peer", "Beside what the peer chooses and answers:", columns, tuple(rows))


def of_peer(posteriors: Floats, policy: Policy) -> tuple[set[str], Floats]:
    """What the peer uses of an episode, and its marginals (n, S).   Raises NoPeer."""
    package, retrieval = peer(), peer("retrieval")
    told = observations(
        cluttered(posteriors), edges=(*EDGES, *CLUTTER), nodes=NODES, observed_at=OBSERVED_AT
    )  # fmt: skip
    used = retrieval.select_budgeted_observations(told, nodes=NODES, root=NODES[0], limit=LIMIT, policy=policy)
    query = package.MemoryQuery(
        namespace="experiment", relation_type="checkpoint", nodes=NODES, root=NODES[0], as_of=1_000.0,
        max_observations=LIMIT, top_k=1, retrieval_policy=policy,
    )  # fmt: skip
    found = peer("inference").infer(package.s3_law(), query, list(used), package.InferenceConfig())
    assert LAW.labels == package.s3_law().labels
    return {one.observation_id for one in used}, np.asarray(found.marginals)
