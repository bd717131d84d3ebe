"""The folder in which this node keeps its state: databases, keys, cache.

Invariants
- The folder and each secret in it are readable by their owner alone (modes 700 and 600).
- A secret is made once. Of two processes that make it at the same moment one wins and both use the winner's.
"""

import os
import secrets
from pathlib import Path

from audit.environment import EnvironmentFault


def make_home(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFault(f"PALIMPSEST_HOME names {str(folder)!r}, which cannot be made: {error}.") from error
    return folder


def read_or_make_secret(path: Path, *, size_bytes: int = 50) -> str:
    """The text in `path`; when there is none yet, a random one, written under another name first and then linked."""
    if not path.exists():
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                stream.write(secrets.token_urlsafe(size_bytes))
                stream.flush()
                os.fsync(stream.fileno())
            _link_unless_present(draft, path)
        finally:
            draft.unlink()
    secret = path.read_text(encoding="ascii").strip()
    if not secret:
        raise EnvironmentFault(f"The secret in {str(path)!r} is empty; delete the file to have a new one made.")
    return secret


def _link_unless_present(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        return
