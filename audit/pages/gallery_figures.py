"""Made-up figures for the gallery: each kind with none, one, few and many rows, and text that means harm."""

from django.utils.safestring import mark_safe

from audit.charts.beliefs import (
    Conflict,
    Probability,
    Removal,
    conflict_bars,
    probability_bars,
    removal_dots,
)
from audit.charts.figures import Column, Figure, axis, drawn, series
from audit.charts.relations import Claim, Member, relations_svg
from audit.charts.relations_example import example
from audit.pages.gallery_calibration import calibration

HOSTILE = "<a href='https://example.org'>x</a> \u202ecod → b"
FEW = (
    Conflict("obs-17", "mirror → build", 12.4),
    Conflict("obs-04", "git tag → tarball", 1.1),
    Conflict("obs-09", "tarball → build", -0.7),
    Conflict("obs-11", HOSTILE, -2.3),
    Conflict("obs-12", "build → package", None),
)


def samples() -> dict[str, object]:
    drawings = (example().svg, _single(), _relations())
    return {
        "figures": (*_conflicts(), *_probabilities(), *_removals(), _lines(), *calibration()),
        "relations_drawn": [mark_safe(svg) for svg in drawings],  # noqa: S308  (the drawing escapes what it is given)
    }


def _single() -> str:
    return relations_svg(
        [Member("n", "alone", "", 1.0, is_root=True)], [], title="One node", drawing_id="relations-one"
    )


def _relations() -> str:
    """Seven hosts around a root: parallel observations, a ring, a bridge, a loop, one not used, one node unreached."""
    names = ("root", "git tag", "tarball", "mirror", HOSTILE, "package", "image", "unreached")
    members = [
        Member(str(i), name, "same" if i % 3 else "opposite", 0.5 + 0.07 * i, f"#{i}", i == 0, i == 3)
        for i, name in enumerate(names)
    ]
    claims = [
        Claim("01", "0", "1", "same", -2.0, "#"), Claim("02", "0", "2", "same", -0.4, "#"),
        Claim("12", "2", "1", "opposite", 12.4, "#"), Claim("12b", "1", "2", "same", -3.1, "#"),
        Claim("13", "1", "3", "same", 0.7, "#"), Claim("34", "3", "4", "same", 3.4, "#"),
        Claim("24", "2", "4", "opposite", -0.2, "#"), Claim("45", "4", "5", "same", None, "#"),
        Claim("56", "5", "6", "same", None, "#", reason="its lineage speaks already"),
        Claim("33", "3", "3", "same", 0.9),
    ]  # fmt: skip
    return relations_svg(members, claims, title="Eight nodes and ten observations", drawing_id="relations-many")


def _conflicts() -> tuple[Figure, ...]:
    many = [Conflict(f"obs-{i:02}", f"host {i} → host {i + 1}", 6.0 - 0.3 * i) for i in range(40)]
    return (
        conflict_bars((), id="conflicts-none"),
        conflict_bars(FEW[4:], id="conflicts-one"),
        conflict_bars(FEW, id="conflicts-few"),
        conflict_bars(many, id="conflicts-many"),
    )


def _probabilities() -> tuple[Figure, ...]:
    few = (Probability("same", 0.5, 0.9998), Probability("opposite", 0.5, 0.0002))
    bounded = tuple(
        Probability(str(i), 1 / 6, value, max(0.0, value - 0.08), min(1.0, value + 0.08))
        for i, value in enumerate((0.05, 0.62, 0.18, 0.09, 0.04, 0.02))
    )
    return (
        probability_bars((), node="build", method="exact", n_observations=0, id="probabilities-none"),
        probability_bars(few, node="build", method="exact", n_observations=7, id="probabilities-few"),
        probability_bars(bounded, node=HOSTILE, method="certified", n_observations=214, id="probabilities-bounded"),
    )


def _removals() -> tuple[Figure, ...]:
    few = (
        Removal("obs-17", "mirror → build", 0.12, "opposite", -2.1),
        Removal("obs-04", "git tag → tarball", 0.86, "same", -0.1),
        Removal("obs-11", HOSTILE, 0.97, "same", 0.02),
    )
    return (
        removal_dots((), node="build", top="same", now=0.95, id="removals-none"),
        removal_dots(few, node="build", top="same", now=0.95, id="removals-few"),
    )


def _lines() -> Figure:
    """Series that differ by dash and marker, with a band: what reports over time are drawn with."""
    days = [*range(1, 15)]
    upper = [0.2 + 0.01 * day for day in days]
    lower = [0.1 + 0.005 * day for day in days]
    middle = [(low + high) / 2 for low, high in zip(lower, upper, strict=True)]
    return drawn(
        "lines", finding="The rate rose from 0.15 to 0.25 in 14 days (n = 318).", label="A line with its band.",
        columns=(Column("day"), Column("rate", True)),
        rows=[(str(day), f"{value:.3f}") for day, value in zip(days, middle, strict=True)],
        traces=[
            {"type": "scatter", "x": [*days, *reversed(days)], "y": [*upper, *reversed(lower)], "fill": "toself",
             "mode": "none", "name": "band", "meta": {"ink": "series-1"}, "hoverinfo": "skip"},
            {"type": "scatter", "x": days, "y": middle, "mode": "lines+markers", "name": "scout", **series(0)},
            {"type": "scatter", "x": days, "y": lower, "mode": "lines+markers", "name": "triage-bot", **series(1)},
        ],
        layout={"xaxis": axis("day (UTC)"), "yaxis": axis("false-done rate", rangemode="tozero", zeroline=True)},
        height_px=280,
    )  # fmt: skip
