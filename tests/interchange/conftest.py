"""Foreign stores that other software wrote, and a workshop for stores of the test's own."""

from pathlib import Path

import pytest

from tests.contextfs_files import contextfs_sidecar, contextfs_store
from tests.interchange.foreign import ForeignFile

__all__ = ["contextfs_sidecar", "contextfs_store"]


@pytest.fixture
def foreign_file(tmp_path: Path) -> ForeignFile:
    return ForeignFile(tmp_path / "store" / "foreign.db")
