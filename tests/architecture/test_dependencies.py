"""What we stand on: licences, locks and vendored files."""

import hashlib
import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import pytest

from tests.architecture.sources import ROOT

# Permissive licences, and two that bind only changes to the library itself, which we use unmodified.
ALLOWED = frozenset(
    {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "PSF-2.0", "Zlib"}
    | {"MPL-2.0", "LGPL-3.0-only"}
)
# Classifiers and free text of packages that give no SPDX expression.
SAME_AS = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
# Packages whose metadata names none; read in the licence file that they install.
READ_BY_HAND = {"axe-playwright-python": "MIT AND MPL-2.0"}

LOCKS = {"runtime": ROOT / ".lock" / "requirements.txt", "dev": ROOT / ".lock" / "requirements-dev.txt"}
ENTRY = re.compile(r"(?m)^([a-z0-9][a-z0-9._-]*)==(\S+)( ;[^\\\n]*)?((?: \\\n[ \t]+\S+)*)$")


def entries(group: str) -> dict[str, tuple[str, str, str]]:
    """Name to version, marker and hashes of each entry of a lock."""
    return {
        name: (version, marker, hashes) for name, version, marker, hashes in ENTRY.findall(LOCKS[group].read_text())
    }


PINNED = {**entries("dev"), **entries("runtime")}


def licence_of(found: Distribution) -> str:
    metadata = found.metadata
    if name := READ_BY_HAND.get(metadata["Name"].lower()):
        return name
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [
        line.split(" :: ")[-1] for line in metadata.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    known = [SAME_AS[name] for name in [*classifiers, metadata.get("License", "")] if name in SAME_AS]
    return known[0] if known else metadata.get("License", "none named")


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met by allowed licences: AND binds tighter than OR; no parentheses occur."""
    alternatives = re.split(r"\s+OR\s+", expression.strip(), flags=re.IGNORECASE)
    return any(
        all(part in ALLOWED for part in re.split(r"\s+AND\s+", each, flags=re.IGNORECASE)) for each in alternatives
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-2.0-or-later", False),
        ("GPL-2.0-only OR MIT", True),
        ("MIT AND PSF-2.0 OR AGPL-3.0-only", True),
        ("none named", False),
    ],
)
def test_an_expression_is_judged_by_its_parts(expression: str, expected: bool) -> None:
    assert is_allowed(expression) is expected


@pytest.mark.parametrize("name", PINNED)
def test_every_locked_package_is_installed_and_has_an_allowed_licence(name: str) -> None:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        assert PINNED[name][1], f"{name} is locked for every platform and is not installed"
        return
    assert is_allowed(licence_of(found)), licence_of(found)
    assert found.version == PINNED[name][0]


@pytest.mark.parametrize("group", LOCKS)
def test_a_lock_pins_every_package_by_hash_and_names_no_host(group: str) -> None:
    text = LOCKS[group].read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith((" ", "\t"))]
    assert len(lines) == len(entries(group)) > 0
    assert all("--hash=sha256:" in hashes for _, _, hashes in entries(group).values())
    assert "://" not in text


def test_the_locks_agree_and_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime, dev = entries("runtime"), entries("dev")
    assert {name for name in runtime.keys() & dev.keys() if runtime[name][0] != dev[name][0]} == set()
    for group, wanted in (
        ("runtime", project["project"]["dependencies"]),
        ("dev", project["dependency-groups"]["dev"]),
    ):
        names = {re.split(r"[\[<>=!~ ]", line)[0] for line in wanted}
        assert names - entries(group).keys() == set()
    # Without it the first call could not install by hash what installs the rest.
    assert "uv" in runtime


VENDOR = ROOT / "static" / "vendor"


def test_vendored_files_are_the_ones_that_were_recorded() -> None:
    lines = [line.split("  ", 1) for line in (VENDOR / "HASHES").read_text().splitlines() if line and line[0] != "#"]
    recorded = {name: digest for digest, name in lines}
    files = [path for path in VENDOR.rglob("*") if path.is_file() and path.name != "HASHES"]
    actual = {str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert actual == recorded


def test_every_vendored_package_brings_its_licence() -> None:
    folders = {path.name for path in VENDOR.iterdir() if path.is_dir()}
    assert {name for name in folders if not list((VENDOR / name).glob("LICENSE*"))} == set()
