"""Freeze an agent."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from memory.agents.setup import freeze_named
from memory.management.refusals import DomainCommand


class Command(DomainCommand):
    help = "Freeze an agent: from the next entry on its writes are refused, until an owner lifts it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--agent", required=True)
        parser.add_argument("--namespace", default="", help="without it, every namespace with an agent of that name")
        parser.add_argument("--reason", default="stopped from the command line")

    def handle(self, *, agent: str, namespace: str, reason: str, **options: Any) -> None:
        frozen_in = freeze_named(agent=agent, namespace=namespace, reason=reason)
        self.stdout.write(f"{agent} is frozen in {', '.join(frozen_in)}.")
