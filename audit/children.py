"""The child processes of `audit.serving`: `python -m audit.children server HOST PORT THREADS`, or `... worker`.

Invariants
- Standard input is a pipe from the parent; when it is closed the process is asked to end, as by SIGTERM.
- The server writes the same JSON lines as the site, and of itself only warnings.
"""

import atexit
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import execute_from_command_line
from django.core.wsgi import get_wsgi_application
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

KILL_AFTER_SECONDS = 12


def end_with_parent() -> None:
    """Ask this process to end when the pipe from its parent is closed."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def application() -> WSGIHandler:
    """The site, in the process that answers requests.

    That process leaves without taking its interpreter apart: threads of the server that wait for the interpreter just
    then would abort it, and whoever stops the node would see a crash where all has ended well.
    """
    atexit.register(os._exit, 0)
    return get_wsgi_application()


def run_server(host: str, port: int, n_threads: int) -> None:
    """Granian with one process of `n_threads` threads, which is started again when it dies."""
    logs: dict[str, Any] = {**settings.LOGGING, "loggers": {**settings.LOGGING["loggers"], "_granian": {}}}
    # This process has a thread already, so its own child must not be a fork of it.
    multiprocessing.set_start_method("spawn")
    Granian(
        "audit.children:application",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        websockets=False,
        workers=1,
        blocking_threads=n_threads,
        respawn_failed_workers=True,
        workers_kill_timeout=KILL_AFTER_SECONDS,
        log_level=LogLevels.warning,
        log_dictconfig=logs,
    ).serve()


def main(arguments: Sequence[str]) -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    if arguments[0] == "server":
        host, port, n_threads = arguments[1:]
        run_server(host, int(port), int(n_threads))
    else:
        execute_from_command_line(["manage.py", "worker"])


if __name__ == "__main__":
    main(sys.argv[1:])
