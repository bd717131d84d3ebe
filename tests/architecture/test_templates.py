"""Templates and static files: each is used, and each that is named exists."""

import re
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES, ROOT, modules

TEMPLATES = ROOT / "templates"
STATIC = ROOT / "static"
TEMPLATE_NAME = re.compile(r"""["']([a-z_0-9/]+\.(?:html|txt))(?:#[a-z_-]+)?["']""")
STATIC_NAME = re.compile(r"""\{%\s*static\s+["']([^"']+)["']""")


def templates() -> list[Path]:
    return sorted(path for path in TEMPLATES.rglob("*") if path.is_file())


def named_templates() -> set[str]:
    sources = [*modules(*PACKAGES), *templates()]
    return {name for path in sources for name in TEMPLATE_NAME.findall(path.read_text())}


def local(path: Path) -> str:
    return str(path.relative_to(TEMPLATES))


def test_every_template_is_named_somewhere() -> None:
    assert {local(path) for path in templates()} - named_templates() == set()


def test_every_template_that_is_named_exists() -> None:
    assert {name for name in named_templates() if not (TEMPLATES / name).is_file()} == set()


@pytest.mark.parametrize("path", templates(), ids=local)
def test_every_static_file_that_a_template_names_exists(path: Path) -> None:
    assert [name for name in STATIC_NAME.findall(path.read_text()) if not (STATIC / name).is_file()] == []


@pytest.mark.parametrize("path", templates(), ids=local)
def test_no_template_holds_style_or_script_in_line(path: Path) -> None:
    text = path.read_text()
    assert re.findall(r"""\s(?:style|on[a-z]+|hx-on[:a-z-]*)\s*=\s*["']""", text) == []
    for tag in re.findall(r"<(?:script|style)\b[^>]*>", text):
        assert "src=" in tag or "nonce=" in tag or 'type="application/json"' in tag, tag
