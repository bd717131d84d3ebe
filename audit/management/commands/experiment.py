"""Draw the figures of an experiment again."""

import json
from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from audit import peer
from audit.experiments.catalogue import BESIDE_PEER, EXPERIMENTS
from audit.experiments.size import SMALL, WHOLE
from audit.experiments.tables import markdown
from memory.management.refusals import DomainCommand, Refused


class Command(DomainCommand):
    help = "Run a named experiment and print its tables; without a name, list what there is. No store is opened."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default="", metavar="NAME", help=f"one of {', '.join(EXPERIMENTS)}")
        parser.add_argument("--small", action="store_true", help="few seeds and short streams, for a look")
        parser.add_argument(
            "--peer", action="store_true", help="also ask the peer package about every episode, where it is installed"
        )
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(self, *, name: str, small: bool, peer: bool, format: str, **options: Any) -> None:
        if not name:
            self.stdout.write("\n".join(EXPERIMENTS))
            return
        if name not in EXPERIMENTS:
            raise Refused(f"There is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}.", returncode=2)
        if peer:
            _require_peer(name)
        tables = EXPERIMENTS[name](replace(SMALL if small else WHOLE, is_beside_peer=peer))
        if format == "json":
            told = {"experiment": name, "is_small": small, "tables": [table.as_json() for table in tables]}
            self.stdout.write(json.dumps(told, indent=1, ensure_ascii=False))
        else:
            self.stdout.write(markdown(tables))


def _require_peer(name: str) -> None:
    if name not in BESIDE_PEER:
        raise Refused(f"The peer has no part in {name}; it has in {', '.join(sorted(BESIDE_PEER))}.", returncode=2)
    if not peer.is_installed():
        raise Refused(str(peer.NoPeer()), returncode=2)
