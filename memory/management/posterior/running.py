"""One call of the command line: what was asked, done and told, and the exit code of what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.db import DatabaseError, OperationalError

from memory.base.errors import DomainError, NotFound
from memory.management.posterior import acts, reads, verifying
from memory.management.posterior.arguments import Arguments, parsed
from memory.management.posterior.stores import SchemaFault

DONE, INTERNAL, INPUT, SCHEMA, CONFLICT = range(5)
COMMANDS: Mapping[str, Callable[[Arguments, Path | None], dict[str, Any]]] = {
    "observe": acts.observe, "outcome": acts.outcome, "revoke": acts.revoke, "query": reads.query,
    "decision": reads.query, "health": reads.health, "verify": verifying.verify, "schema": verifying.schema,
}  # fmt: skip
KINDS = {INTERNAL: "internal", INPUT: "input", SCHEMA: "schema", CONFLICT: "conflict"}


def run(arguments: list[str]) -> int:
    """Do what the arguments ask, print the answer as JSON, and answer the exit code.

    Raises SystemExit (2) for arguments that are none.
    """
    asked = parsed(arguments)
    store = Path(asked.db) if asked.db is not None else None
    try:
        answer = COMMANDS[asked.command](asked, store)
    except Exception as error:  # noqa: BLE001 - the contract tells every failure as JSON, also what nobody foresaw
        code, words = _failure(error)
        told = {"error": {"code": KINDS[code], "message": words}}
        sys.stderr.write(json.dumps(told, ensure_ascii=False) + "\n")
        return code
    sys.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2) + "\n")
    return SCHEMA if asked.command == "verify" and not answer["ok"] else DONE


def _failure(error: Exception) -> tuple[int, str]:
    """The exit code and the sentence of a failure."""
    if isinstance(error, DomainError):
        return _refusal(error), error.detail
    if isinstance(error, SchemaFault):
        return SCHEMA, str(error)
    if isinstance(error, OSError):
        return INPUT, f"{error.filename}: {error.strerror}" if error.filename is not None else str(error)
    if isinstance(error, DatabaseError) and not isinstance(error, OperationalError):
        return SCHEMA, str(error)
    return INTERNAL, f"{type(error).__name__}: {error}"


def _refusal(error: DomainError) -> int:
    if isinstance(error, NotFound):
        # One that names a place in the payload speaks of the payload: a parent that does not stand.
        return INPUT if error.errors else CONFLICT
    if error.status >= 500:
        return INTERNAL
    return INPUT if error.status in (400, 413, 422) else CONFLICT
