"""Contrast and use of colours, computed over the tokens of the style sheet.

Source: WCAG 2.2, success criteria 1.4.3 (text, 4.5) and 1.4.11 (lines and marks, 3); relative luminance as there.
"""

import re
from itertools import product

import pytest

from tests.architecture.sources import ROOT

CSS = ROOT / "static" / "css"
TOKEN = re.compile(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
TOKENS = {name: pair for name, *pair in TOKEN.findall((CSS / "tokens.css").read_text())}
SCHEMES = {"light": 0, "dark": 1}

GROUNDS = ("page", "surface", "raised", "hover")
INKS = ("text", "muted", "accent", "ok", "warn", "danger", "gone")
TINTS = ("accent-tint", "ok-tint", "warn-tint", "danger-tint", "gone-tint")
SHARED = ("reset", "tokens", "base", "frame", "components", "charts", "pages", "print")
SERIES = tuple(f"series-{number}" for number in range(1, 6))

# What the project has decided: the colour of each role, light and dark.
DECIDED = {
    "text": ("#1a1d21", "#e6e8eb"),
    "muted": ("#5b6470", "#9aa3ad"),
    "accent": ("#0b5fcc", "#6cb0ff"),
    "ok": ("#18794e", "#4cc38a"),
    "warn": ("#8a5300", "#f1a10d"),
    "danger": ("#c3262f", "#ff8b8b"),
    "gone": ("#6347c7", "#b4a1ff"),
    "surface": ("#f6f7f9", "#181b1f"),
    "line": ("#d9dde3", "#2c3238"),
    "page": ("#ffffff", "#101214"),
}


def luminance(colour: str) -> float:
    channels = (int(colour[position : position + 2], 16) / 255 for position in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(ink: str, ground: str, scheme: str) -> float:
    bright, dark = sorted((luminance(TOKENS[name][SCHEMES[scheme]]) for name in (ink, ground)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_the_formula_gives_the_known_extremes() -> None:
    assert luminance("#ffffff") == pytest.approx(1)
    assert (luminance("#ffffff") + 0.05) / (luminance("#000000") + 0.05) == pytest.approx(21)
    assert (luminance("#ffffff") + 0.05) / (luminance("#777777") + 0.05) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("role", DECIDED)
def test_a_role_has_the_colour_that_was_decided(role: str) -> None:
    assert tuple(TOKENS[role]) == DECIDED[role]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("ink", "ground"), list(product(INKS, GROUNDS)))
def test_text_reads_on_every_ground(ink: str, ground: str, scheme: str) -> None:
    assert contrast(ink, ground, scheme) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("tint", TINTS)
def test_text_links_and_the_ink_of_a_tint_read_on_it(tint: str, scheme: str) -> None:
    for ink in ("text", "accent", tint.removesuffix("-tint")):
        assert contrast(ink, tint, scheme) >= 4.5, ink


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("ink", "ground"),
    [("on-accent", "accent"), ("on-danger", "danger"), ("text", "added-word"), ("text", "removed-word")],
)
def test_text_reads_on_filled_controls_and_changed_words(ink: str, ground: str, scheme: str) -> None:
    assert contrast(ink, ground, scheme) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("mark", "ground"), list(product(("line-strong", *SERIES), ("page", "surface", "raised"))))
def test_lines_of_controls_and_marks_of_charts_are_seen(mark: str, ground: str, scheme: str) -> None:
    assert contrast(mark, ground, scheme) >= 3


def test_colours_are_written_in_the_tokens_alone() -> None:
    sheets = [path for path in CSS.glob("*.css") if path.name != "tokens.css"]
    assert len(sheets) > 4
    # The shade behind an open sheet is no ink and no ground.
    text = "\n".join(path.read_text() for path in sheets).replace("rgb(0 0 0 / .4)", "")
    assert (
        re.findall(r"#[0-9a-fA-F]{3,8}\b|(?:rgb|hsl|oklch)a?\(|:\s*(?:white|black|red|green|blue|gr[ae]y)\b", text)
        == []
    )


def test_every_token_that_is_used_exists_and_every_token_is_used() -> None:
    tokens = (CSS / "tokens.css").read_text()
    sheets = "\n".join(path.read_text() for path in CSS.glob("*.css"))
    defined = set(re.findall(r"(--[a-z0-9-]+):", tokens))
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", sheets))
    assert used - defined == set()
    # Series not drawn yet are kept: charts take them in order.
    assert {name for name in defined - used if not name.startswith("--series-")} == set()


def test_no_rule_forces_its_way_or_names_an_id() -> None:
    for path in CSS.glob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        assert "!important" not in text, path.name
        selectors = re.findall(r"([^{};]+)\{", text)
        assert [selector for selector in selectors if re.search(r"#[a-zA-Z]", selector)] == [], path.name


def test_style_sheets_and_scripts_stay_within_their_weight() -> None:
    shared = [CSS / f"{name}.css" for name in SHARED]
    assert sum(path.stat().st_size for path in shared) <= 30 * 1024
    of_pages = {path.name: path.stat().st_size for path in CSS.glob("*.css") if path not in shared}
    assert {name: size for name, size in of_pages.items() if size > 6 * 1024} == {}
    scripts = list((ROOT / "static" / "js").glob("*.js"))
    assert sum(path.stat().st_size for path in scripts) <= 40 * 1024
    assert {path.name: lines for path in scripts if (lines := len(path.read_text().splitlines())) > 150} == {}
