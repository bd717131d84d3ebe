"""A program: servers of the site that start at once, because they are forks of this process, which has loaded it.

    python -m tests.contract.warm_servers THREADS WORKERS

For each port that a line of its input names it starts granian there, in a process group of its own, and prints the id
of that group. It ends with its input; ending the servers is left to whoever started it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys

from django.core.wsgi import get_wsgi_application
from django.test import Client


def serve(port: int, *, n_threads: int, n_workers: int) -> None:
    """Granian as production runs it, but for its worker: a fork, which keeps what is loaded."""
    from granian import Granian
    from granian.constants import Interfaces
    from granian.log import LogLevels

    multiprocessing.set_start_method("fork")
    Granian(
        "audit.wsgi:application",
        address="127.0.0.1",
        port=port,
        interface=Interfaces.WSGI,
        workers=n_workers,
        blocking_threads=n_threads,
        log_level=LogLevels.warning,
    ).serve()


def main(n_threads: int, n_workers: int) -> None:
    get_wsgi_application()
    # Loads every address of the site, and opens no database.
    assert Client(headers={"host": "localhost"}).get("/healthz").status_code == 200
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setsid()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                serve(int(line), n_threads=n_threads, n_workers=n_workers)
            finally:
                os._exit(1)
        print(child, flush=True)


if __name__ == "__main__":
    # A server that was killed needs no one to ask how it ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    main(int(sys.argv[1]), int(sys.argv[2]))
