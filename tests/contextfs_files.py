"""Foreign stores that ContextFS 0.2.35 wrote, unpacked once for a run, and what their makers wrote down about them."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parent / "interchange" / "fixtures"


@pytest.fixture(scope="session")
def contextfs_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The path of an unpacked store by name: clean_small, violations, violations_before, l6_twin, large."""
    unpacked: dict[str, Path] = {}

    def path_of(name: str) -> Path:
        if name not in unpacked:
            path = tmp_path_factory.mktemp(name) / f"{name}.db"
            path.write_bytes(lzma.decompress((FIXTURES / f"{name}.db.xz").read_bytes()))
            unpacked[name] = path
        return unpacked[name]

    return path_of


@pytest.fixture(scope="session")
def contextfs_sidecar() -> Callable[[str], dict[str, Any]]:
    """What the makers of a store wrote down about it."""
    return lambda name: json.loads((FIXTURES / f"{name}.json").read_text())
