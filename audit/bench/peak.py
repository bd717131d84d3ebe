"""The memory of one law check, in a process of its own: `python -m audit.bench.peak NAMESPACE`.

Prints two numbers of bytes: the peak before the check, with everything loaded, and the peak after it.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import django

if __name__ == "__main__":
    django.setup()

from audit.bench.scratch import ROOT
from audit.laws import ours
from memory.ledger.queries import asof

STATUS = Path("/proc/self/status")
MEGABYTE = 1_000_000


def peak_of(namespace: str) -> tuple[int, int]:
    """Peak bytes before and after a law check of the namespace.   Raises CalledProcessError."""
    command = [sys.executable, "-m", "audit.bench.peak", namespace]
    done = subprocess.run(  # noqa: S603 - this very program
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    before, after = done.stdout.split()
    return int(before), int(after)


def _peak() -> int:
    """Bytes. On Linux from the status of the process: the usage of resources counts what started it along with it."""
    if STATUS.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())):
        return int(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def main(namespace: str) -> None:
    at = asof.now(asof.namespace_named(namespace).pk)
    before = _peak()
    ours.check(at)
    sys.stdout.write(f"{before} {_peak()}\n")


if __name__ == "__main__":
    main(sys.argv[1])
