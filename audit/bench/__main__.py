"""One run of benchmarks, in the store that the environment names: `python -m audit.bench DIVISOR NAME...`.

`audit.bench.scratch` starts it in a store of its own. The report goes to standard output, progress to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import django

django.setup()

from audit.bench.catalogue import BENCHMARKS  # noqa: E402 - it needs the applications
from audit.bench.measuring import Figure, Scale  # noqa: E402
from audit.bench.reporting import line, report  # noqa: E402
from audit.peer import NoPeer  # noqa: E402
from memory.management.schema import bring_up_to_date  # noqa: E402


def main(divisor: int, names: Sequence[str]) -> None:
    bring_up_to_date()
    figures: list[Figure] = []
    missing: list[str] = []
    for name in names:
        try:
            for figure in BENCHMARKS[name](Scale(divisor)):
                figures.append(figure)
                sys.stderr.write(line(figure) + "\n")
                sys.stderr.flush()
        except NoPeer as refusal:
            missing.append(f"{name} ends here: {refusal}")
    sys.stdout.write(report(figures, divisor=divisor, missing=missing))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
