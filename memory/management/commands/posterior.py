"""Observations and questions as JSON: the command line of posterior-memory-harness 0.9.0."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from memory.management.posterior.arguments import parser
from memory.management.posterior.running import run


class Command(BaseCommand):
    help = "Observe, ask, label and check beliefs as JSON, as a client of posterior-memory-harness does."
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return parser()

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(run(argv[2:]))
