"""The arguments: global ones first, then the command with its own."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from django.core.management.base import CommandParser

PROGRAM = "manage.py posterior"
STDIN = "a JSON file, or - for standard input"


@dataclass
class Arguments(argparse.Namespace):
    """What was asked for on the command line."""

    command: str = ""
    db: str | None = None
    profile: str = ""
    relation_type: str | None = None
    law: str | None = None
    monitor_run: str = "default"
    monitor_config: str | None = None
    payload: str = ""
    focus_node: str = ""
    alternatives: int = 2
    namespace: str | None = None
    source_family: str | None = None
    as_of: float | None = None
    observation_id: str = ""
    at: float | None = None
    reason: str | None = None
    action: str = "migrate"


def parsed(arguments: list[str]) -> Arguments:
    """Raises SystemExit (2) for arguments that are none, after a word on standard error."""
    return parser().parse_args(arguments, namespace=Arguments())


def parser() -> CommandParser:
    """The parser; what it refuses it says on standard error, and exits with 2."""
    made = CommandParser(
        prog=PROGRAM, called_from_command_line=True,
        description="Probabilistic observations and questions about them, as JSON: the command line of"
        " posterior-memory-harness 0.9.0. Exit codes: 0 done, 1 internal, 2 input, 3 schema or damage, 4 conflict.",
    )  # fmt: skip
    made.add_argument("--db", metavar="STORE", help="a database file of Palimpsest; without it, the configured one")
    made.add_argument("--profile", choices=("native", "compat"), default="", help="without it, the namespace's own")
    made.add_argument("--relation-type", metavar="R")
    made.add_argument("--law", help="s3, cyclic:N, or a JSON file with a finite group")
    made.add_argument("--monitor-run", default="default", metavar="RUN")
    made.add_argument("--monitor-config", metavar="FILE", help="JSON; needed only where a run is made anew")
    commands = made.add_subparsers(dest="command", required=True)
    for name, what in (("observe", "store an observation"), ("query", "reconcile what was observed")):
        commands.add_parser(name, help=what).add_argument("payload", help=STDIN)
    decision = commands.add_parser("decision", help="one node of an answer")
    decision.add_argument("payload", help=STDIN)
    decision.add_argument("--focus-node", required=True)
    decision.add_argument("--alternatives", type=int, default=2)
    outcome = commands.add_parser("outcome", help="store what was true, or a correction of it")
    outcome.add_argument("payload", help=STDIN)
    outcome.add_argument("--namespace", help="where several namespaces know the observation")
    health = commands.add_parser("health", help="how well calibrated the forecasts are")
    health.add_argument("--namespace")
    health.add_argument("--source-family")
    health.add_argument("--as-of", type=float)
    revoke = commands.add_parser("revoke", help="an observation counts no more")
    revoke.add_argument("observation_id")
    revoke.add_argument("--at", type=float, help="in seconds; without it, now")
    revoke.add_argument("--reason")
    revoke.add_argument("--namespace", help="where several namespaces know the observation")
    commands.add_parser("verify", help="hash and read everything again")
    schema = commands.add_parser("schema", help="look at the tables of the store, or bring them up to date")
    schema.add_argument("--db", metavar="STORE", default=argparse.SUPPRESS)
    schema.add_argument("action", nargs="?", choices=("check", "migrate"), default="migrate")
    return made
