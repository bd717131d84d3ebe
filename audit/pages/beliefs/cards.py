"""How an answer was come to: the rows of its card."""

from __future__ import annotations

from audit.access import Visit
from audit.components import Definition
from audit.pages.beliefs.shown import Shown, input_hash
from audit.pages.beliefs.words import METHODS, instant_words, named, relation_url
from audit.templatetags.console import count
from memory.beliefs.kernel.retrieval import Retrieved
from memory.beliefs.kernel.terms import Inference


def cards(visit: Visit, view: Shown) -> list[Definition]:
    """What was asked, by what method, from what, with what it comes to as a whole."""
    asking, answer = view.asking, view.asking.answer
    inference, relation = answer.inference, answer.query.relation_type
    return [
        Definition("relation type", named(relation), url=relation_url(relation, carry=visit.carry)),
        Definition("seen from", named(answer.query.root)),
        Definition("true on", instant_words(asking.as_of)),
        Definition("method", "the prior alone" if inference is None else METHODS[inference.method]),
        Definition("log Z", _evidence(answer.log_evidence, inference), title="comparable between runs of one question"),
        Definition("against no evidence", f"{answer.log_bayes_factor:+.4f} nats", title="log Bayes factor"),
        Definition("observations", f"{count(len(answer.used.ids))} used, {count(len(asking.hidden))} hidden"),
        Definition("shape", _shape(asking.retrieved, inference)),
        Definition("chosen by", _choice(asking.retrieved)),
        *_sampling(inference),
        Definition("input", input_hash(view), is_code=True, title="SHA-256 of all numbers that went in"),
    ]


def _evidence(log_evidence: float, inference: Inference | None) -> str:
    interval = None if inference is None else inference.log_z_interval
    between = f", between {interval[0]:.3f} and {interval[1]:.3f}" if interval is not None else ""
    return f"{log_evidence:.4f} nats{between}"


def _shape(found: Retrieved, inference: Inference | None) -> str:
    parts, rings = found.structure.connected_components, found.structure.cycle_rank
    width = "" if inference is None else f", width {inference.width}"
    return f"{parts} part{'' if parts == 1 else 's'}, {rings} independent ring{'' if rings == 1 else 's'}{width}"


def _choice(found: Retrieved) -> str:
    hit = [word for word, is_hit in (("nodes", found.node_limit_hit), ("observations", found.observation_limit_hit))
           if is_hit]  # fmt: skip
    return found.policy.replace("_", " ") + (f"; cut by the limit of {' and '.join(hit)}" if hit else "")


def _sampling(inference: Inference | None) -> list[Definition]:
    if inference is None or inference.is_exact:
        return []
    told = f"{count(inference.n_samples)}, {inference.effective_samples or 0.0:.0f} effective"
    return [Definition("samples", told), Definition("left out of the proposal", count(len(inference.dropped_edges)))]
