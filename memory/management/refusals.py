"""How a command refuses, or ends a check that found something: one sentence on stderr and an exit code.

0 done, 1 internal, 2 wrong input, 3 a check found something, 4 a conflict of state.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, OperationalError, ProgrammingError

from memory.base.errors import DomainError
from memory.ledger.kernel import note
from memory.management.schema import n_missing

FOUND_SOMETHING = 3
CONFLICTS = frozenset({409, 410, 412, 423})


class Refused(CommandError):
    """The command did not do what was asked; Django prints the sentence and exits with `returncode`."""


class Found(CommandError):
    """The check was made and something does not hold. The sentence stands alone: nothing was refused."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, returncode=FOUND_SOMETHING)


def exit_code(status: int) -> int:
    """The exit code of a refusal with that HTTP status."""
    if status >= 500:
        return 1
    return 4 if status in CONFLICTS else 2


class DomainCommand(BaseCommand):
    """A command whose refusals by the domain end as one sentence and the exit code of their cause."""

    # The checks read every model, template setting and url; they belong to `check` and to the tests.
    requires_system_checks = ()

    _is_on_a_command_line = False

    def run_from_argv(self, argv: list[str]) -> None:
        self._is_on_a_command_line = True
        super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except Found as found:
            if not self._is_on_a_command_line:
                raise
            # Django would put the name of the exception before it.
            self.stderr.write(str(found))
            sys.exit(found.returncode)
        except DomainError as error:
            raise Refused(error.detail, returncode=exit_code(error.status)) from error
        except (OperationalError, ProgrammingError) as error:
            raise _why(error) from error


def read_kept(path: Path | None, *, namespace: str) -> str:
    """The text of a checkpoint that the reader saved; empty for none.   Raises Refused."""
    if path is None:
        return ""
    if not namespace:
        raise Refused("A checkpoint speaks of one namespace: give --namespace with --kept.", returncode=2)
    try:
        text = path.read_text(encoding="utf-8")
        note.parse(text)
    except (OSError, UnicodeDecodeError, note.NoteError) as error:
        raise Refused(f"{path} holds no checkpoint that can be read: {error}.", returncode=2) from error
    return text


def _why(error: Exception) -> Exception:
    """What a person can do about a failed statement; the failure itself where nothing is known."""
    try:
        missing = n_missing(DEFAULT_DB_ALIAS)
    except OperationalError:
        return Refused("The database does not answer; DATABASE_URL and PALIMPSEST_HOME say where it is looked for.")
    if missing:
        remedy = "`manage.py up` or `manage.py migrate` applies them, and then this can be done"
        return Refused(f"The database lacks {missing} migrations; {remedy}.", returncode=2)
    return error
