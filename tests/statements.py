"""Watching and disturbing the statements of one connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import OperationalError, connection, connections


class Planted(OperationalError):
    """The statement was stopped by the test."""


@dataclass(slots=True)
class Watch:
    """The statements that were sent; `has_failed` is true once one was stopped."""

    statements: list[str] = field(default_factory=list)
    has_failed: bool = False


@contextmanager
def failing_at(number: int) -> Iterator[Watch]:
    """Inside the block the statement of that number (from 1) is not sent and raises; all others are."""
    watch = Watch()

    def execute(send: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        watch.statements.append(sql)
        if len(watch.statements) == number:
            watch.has_failed = True
            raise Planted(f"planted at statement {number}: {sql[:80]}")
        return send(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield watch


@contextmanager
def after_first(fragment: str, act: Callable[[], object]) -> Iterator[Watch]:
    """Inside the block `act` runs right after the first statement that holds the fragment, and never again."""
    watch = Watch()

    def execute(send: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        answer = send(sql, params, many, context)
        if fragment in sql and not watch.statements:
            watch.statements.append(sql)
            act()
        return answer

    with connection.execute_wrapper(execute):
        yield watch


def in_thread[T](function: Callable[[], T]) -> T:
    """What the function answers on a connection of its own; what it raises is raised here."""

    def run() -> T:
        try:
            return function()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()
