"""The foreign stores on which the laws are tried."""

from tests.contextfs_files import contextfs_sidecar, contextfs_store

__all__ = ["contextfs_sidecar", "contextfs_store"]
