"""An answer as its page shows it: nodes, observations used and hidden, figures and the drawing.

Invariants
- Everything is worked out from the answer; nothing is asked of the store.
- A probability that is not exact never stands without its bounds, and an observation without a second path never with
  a number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString, mark_safe

from audit.charts.beliefs import (
    TIE,
    Conflict,
    Probability,
    Removal,
    conflict_bars,
    nats,
    probability_bars,
    removal_dots,
    strongest_first,
    verdict_of,
)
from audit.charts.figures import Figure
from audit.charts.relations import Claim, GraphTooLarge, Member, relations_svg
from audit.pages.beliefs.words import HIDDEN, Share, between, named
from memory.beliefs.kernel.capsule import ranked
from memory.beliefs.kernel.factors import floored
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.laws import fingerprint
from memory.beliefs.kernel.removals import without_each
from memory.beliefs.queries.asking import Asking

MOST_REMOVALS = 32
LEAST_PROBABILITY = 1e-12
NAME_CHARACTERS = 24
BADGES = {"contradicts": "contradicted", "corroborates": "corroborated", "no second path": "bridge",
          "says nothing": "bridge"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node with its most probable value. `bounds` is "" where the probability is exact."""

    node: str
    name: str
    value: str
    share: Share
    bounds: str
    entropy_nats: float
    n_touching: int
    is_root: bool
    is_focus: bool


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """An observation that is used, against the rest. `badge` is the key of its standing; `rest` what the others say of
    its relation without it, "" where they say nothing; `inferred` what the best assignment says instead of `says`."""

    id: str
    name: str
    between: str
    says: str
    share: Share
    rest: str
    rest_share: Share | None
    strength: str
    verdict: str
    badge: str
    inferred: str
    trust: float


@dataclass(frozen=True, slots=True)
class HiddenRow:
    """An observation between the nodes that does not speak, and why."""

    id: str
    name: str
    between: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """An answer in parts; `focus` is the node that the figures are about, -1 where there is no other than the root."""

    asking: Asking
    focus: int

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.asking.answer.nodes

    def strengths(self) -> list[float | None]:
        """The conflict of each used observation, None where it has no second path."""
        inference = self.asking.answer.inference
        if inference is None:
            return []
        pairs = zip(inference.conflict_nats.tolist(), inference.is_bridge.tolist(), strict=True)
        return [None if is_bridge else float(strength) for strength, is_bridge in pairs]

    def in_joint(self) -> list[int]:
        """The relation that the best joint answer has where each used observation says its own."""
        answer = self.asking.answer
        if answer.inference is None:
            return []
        states = answer.inference.map_states
        found: list[int] = answer.group.relative[states[answer.used.source], states[answer.used.target]].tolist()
        return found

    def give_way(self) -> list[bool]:
        """Whether that is another relation than the observation's own most probable one."""
        said = floored(self.asking.answer.used.posterior).argmax(axis=1).tolist() if self.in_joint() else []
        return [here != there for here, there in zip(said, self.in_joint(), strict=True)]

    def order(self) -> list[int]:
        """The used observations, the one that the rest contradicts most first."""
        return strongest_first(self.strengths(), gives_way=self.give_way())


def shown(asking: Asking, *, node: str = "") -> Shown:
    """`node`: what the figures are about; the node that the strongest contradiction touches if it is no node."""
    answer = asking.answer
    others = [index for index in range(len(answer.nodes)) if index != answer.root]
    if node in answer.nodes and answer.nodes.index(node) != answer.root:
        return Shown(asking, answer.nodes.index(node))
    view = Shown(asking, others[0] if others else -1)
    first = next(iter(view.order()), None)
    if first is not None and (view.strengths()[first] or 0.0) > 0:
        ends = (int(answer.used.target[first]), int(answer.used.source[first]))
        return Shown(asking, next((end for end in ends if end != answer.root), view.focus))
    return view


def node_rows(view: Shown) -> list[NodeRow]:
    """Every node, in the order of the answer."""
    answer = view.asking.answer
    order, probabilities = ranked(answer.marginals)
    touching = np.bincount(np.concatenate([answer.used.source, answer.used.target]), minlength=len(answer.nodes))
    return [
        NodeRow(
            node, named(node), answer.law.labels[order[i, 0]], Share(float(probabilities[i, 0])),
            _bounds(view, i, int(order[i, 0])), _entropy(answer.marginals[i]), int(touching[i]), i == answer.root,
            i == view.focus,
        )
        for i, node in enumerate(answer.nodes)
    ]  # fmt: skip


def observation_rows(view: Shown) -> list[ObservationRow]:
    """Every observation used, the one that the rest contradicts most on top, those without a second path last."""
    answer, strengths = view.asking.answer, view.strengths()
    inference = answer.inference
    if inference is None:
        return []
    said = floored(answer.used.posterior)
    inferred, gives_way = view.in_joint(), view.give_way()
    rows = []
    for edge in view.order():
        local, strength = int(said[edge].argmax()), strengths[edge]
        verdict = verdict_of(strength)
        best = int(inference.cavity[edge].argmax())
        rest = "" if strength is None else answer.law.labels[best]
        rest_share = None if strength is None else Share(float(inference.cavity[edge, best]))
        rows.append(
            ObservationRow(
                answer.used.ids[edge], _short(answer.used.ids[edge]), _between(view, edge), answer.law.labels[local],
                Share(float(said[edge, local])), rest, rest_share,
                "" if strength is None else nats(strength), verdict, BADGES[verdict],
                answer.law.labels[inferred[edge]] if gives_way[edge] else "",
                float(answer.used.trust[edge]),
            )
        )  # fmt: skip
    return rows


def hidden_rows(view: Shown) -> list[HiddenRow]:
    """What lies between the nodes and does not speak, by reason and id."""
    asking = view.asking
    return [
        HiddenRow(id, _short(id), between(*asking.ends[id]) if id in asking.ends else "", HIDDEN.get(reason, reason))
        for id, reason in sorted(asking.hidden.items(), key=lambda one: (one[1], one[0]))
    ]


def figures(view: Shown) -> dict[str, Figure]:
    """The figures by their names: conflicts, and for the focus its probabilities and what each observation carries."""
    answer = view.asking.answer
    gives_way = view.give_way()
    conflicts = [
        Conflict(_short(answer.used.ids[edge]), _between(view, edge), strength, gives_way[edge])
        for edge, strength in enumerate(view.strengths())
        if answer.used.trust[edge] > 0.0
    ]
    found = {"conflicts": conflict_bars(conflicts)}
    if view.focus < 0:
        return found
    found["probabilities"] = _probabilities(view)
    if answer.inference is None or answer.inference.is_exact:
        found["removals"] = _removals(view)
    return found


def drawing(view: Shown, *, urls: Mapping[str, str], node_urls: Mapping[str, str]) -> SafeString | str:
    """The graph as SVG, or the words why there is none. urls : the page of each observation by its id."""
    asking, answer = view.asking, view.asking.answer
    members = [
        Member(row.node, row.name, row.value, row.share.value, node_urls[row.node], row.is_root, row.is_focus)
        for row in node_rows(view)
    ]
    said = floored(answer.used.posterior).argmax(axis=1) if answer.used.ids else ()
    claims = [
        Claim(
            answer.used.ids[edge], answer.nodes[answer.used.source[edge]], answer.nodes[answer.used.target[edge]],
            answer.law.labels[said[edge]], strength, urls.get(answer.used.ids[edge], ""),
        )
        for edge, strength in enumerate(view.strengths())
    ]  # fmt: skip
    claims += [
        Claim(id, *asking.ends[id], "", None, urls.get(id, ""), HIDDEN.get(reason, reason))
        for id, reason in asking.hidden.items()
        if id in asking.ends
    ]
    title = f"{len(members)} nodes as seen from {named(answer.query.root)}, {len(claims)} observations between them"
    try:
        return mark_safe(relations_svg(members, claims, title=title))  # noqa: S308  (the drawing escapes what it is given)
    except GraphTooLarge as error:
        return f"{str(error)[0].upper()}{str(error)[1:]}."


def input_hash(view: Shown) -> str:
    """SHA-256 over the numbers that the answer is worked out from: law, ends, factors, priors."""
    answer = view.asking.answer
    digest = hashlib.sha256(f"{fingerprint(answer.law)} {len(answer.nodes)} {answer.root}".encode())
    for ends in (answer.used.source, answer.used.target):
        digest.update(np.ascontiguousarray(ends, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(answer.log_factors, dtype="<f8").tobytes())
    for node in sorted(answer.log_priors):
        digest.update(node.to_bytes(8, "little") + np.ascontiguousarray(answer.log_priors[node], dtype="<f8").tobytes())
    return digest.hexdigest()


def _probabilities(view: Shown) -> Figure:
    answer, focus = view.asking.answer, view.focus
    prior = _prior(view)
    inference = answer.inference
    lower = upper = None
    if inference is not None and inference.lower is not None and inference.upper is not None:
        lower, upper = inference.lower[focus], inference.upper[focus]
    rows = [
        Probability(
            label, float(prior[i]), float(answer.marginals[focus, i]), None if lower is None else float(lower[i]),
            None if upper is None else float(upper[i]),
        )
        for i, label in enumerate(answer.law.labels)
    ]  # fmt: skip
    method = "exact" if inference is None else inference.certainty
    return probability_bars(rows, node=named(answer.nodes[focus]), method=method, n_observations=len(answer.used.ids))


def _prior(view: Shown) -> Floats:
    answer = view.asking.answer
    given = answer.log_priors.get(view.focus)
    if given is None:
        return np.full(answer.law.size, 1.0 / answer.law.size)
    weights = np.exp(given - given.max())
    return np.asarray(weights / weights.sum())


def _removals(view: Shown) -> Figure:
    answer, focus, labels = view.asking.answer, view.focus, view.asking.answer.law.labels
    top = int(ranked(answer.marginals[focus][None])[0][0, 0])
    now = float(answer.marginals[focus, top])
    strengths = view.strengths()
    order = sorted(range(len(strengths)), key=lambda edge: (-abs(strengths[edge] or 0.0), edge))[:MOST_REMOVALS]
    rows = without_each(answer, node=focus, edges=order)
    tops = ranked(rows)[0][:, 0] if order else ()
    removals = []
    for edge, row, best in zip(order, rows, tops, strict=True):
        equals = _equals(row)
        change = float(np.log(max(row[top], LEAST_PROBABILITY)) - np.log(max(now, LEAST_PROBABILITY)))
        removals.append(
            Removal(
                _short(answer.used.ids[edge]), _between(view, edge), float(row[top]), labels[int(best)], change,
                tuple(labels[i] for i in equals) if len(equals) > 1 else (), 1 < len(equals) == len(labels),
            )
        )  # fmt: skip
    is_tied = len(_equals(answer.marginals[focus])) > 1
    return removal_dots(removals, node=named(answer.nodes[focus]), top=labels[top], now=now, is_tied=is_tied)


def _equals(row: Floats) -> list[int]:
    """The states that are as probable as the most probable one."""
    found: list[int] = np.flatnonzero(row.max() - row <= TIE).tolist()
    return found


def _bounds(view: Shown, node: int, state: int) -> str:
    inference = view.asking.answer.inference
    if inference is None or inference.lower is None or inference.upper is None:
        return ""
    return f"{Share(float(inference.lower[node, state])).words} to {Share(float(inference.upper[node, state])).words}"


def _entropy(row: Floats) -> float:
    kept: Sequence[float] = [one for one in row.tolist() if one > 0.0]
    return abs(float(-sum(one * np.log(one) for one in kept)))


def _between(view: Shown, edge: int) -> str:
    answer = view.asking.answer
    return between(answer.nodes[answer.used.source[edge]], answer.nodes[answer.used.target[edge]])


def _short(id: str) -> str:
    shown_id = named(id)
    return shown_id if len(shown_id) <= NAME_CHARACTERS else shown_id[: NAME_CHARACTERS - 1] + "…"
