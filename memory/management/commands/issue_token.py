"""Print a new token of an agent, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser

from memory.agents.operations import DEFAULT_LIFE
from memory.agents.setup import new_token, stores_named
from memory.management.refusals import DomainCommand


class Command(DomainCommand):
    help = "Make a token for an agent and print it alone. Namespace and agent are made where absent, which stderr says."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--namespace", required=True)
        parser.add_argument("--agent", required=True)
        parser.add_argument("--scopes", default="read,write", help="some of read, write, control; with commas")
        parser.add_argument("--days", type=int, default=DEFAULT_LIFE.days, help="how long it works (default 90)")

    def handle(self, *, namespace: str, agent: str, scopes: str, days: int, **options: Any) -> None:
        named = tuple(scope.strip() for scope in scopes.split(","))
        life = timedelta(days=min(max(days, 0), 10_000))
        stood = {store.name for store in stores_named("")}
        self.stdout.write(new_token(namespace=namespace, agent=agent, scopes=named, life=life).secret)
        if namespace not in stood:
            self.stderr.write(f"There was no namespace {namespace}; it was founded, and nobody owns it yet.")
