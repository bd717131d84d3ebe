"""Give a person a role and print a one-time sign-in link."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from memory.agents.accounts import sign_in_path
from memory.agents.setup import invite
from memory.management.refusals import DomainCommand


class Command(DomainCommand):
    help = "Give a person a role in a namespace and print a link that signs them in once, within a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--role", required=True, choices=("auditor", "reviewer", "owner"))
        parser.add_argument("--namespace", required=True)
        parser.add_argument("--site", default="http://127.0.0.1:8000", help="what the link begins with")

    def handle(self, *, email: str, role: str, namespace: str, site: str, **options: Any) -> None:
        person = invite(email=email, role=role, namespace=namespace)
        self.stdout.write(site.rstrip("/") + sign_in_path(person))
