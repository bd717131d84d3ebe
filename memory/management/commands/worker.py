"""Run background tasks and clock work until told to stop."""

from __future__ import annotations

import signal
from typing import Any

from django.db import connections

from memory.management.refusals import DomainCommand, Refused
from memory.management.schema import n_missing
from memory.worker import Worker


class Command(DomainCommand):
    help = "Run background tasks, sign checkpoints and deliver them; `up` runs one worker beside the server."

    def handle(self, **options: Any) -> None:
        if any(n_missing(alias) for alias in connections):
            raise Refused("The databases lack migrations; `manage.py up` or `manage.py migrate` applies them.")
        worker = Worker()
        signal.signal(signal.SIGINT, worker.stop)
        signal.signal(signal.SIGTERM, worker.stop)
        worker.run()
