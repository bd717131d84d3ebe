"""The peer's monitor cases: events with claimed instants, what each answered, the reports and the journal's hashes."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from memory.beliefs.kernel.hashing import peer_sha256

FIXTURES = Path(__file__).parent / "fixtures"


@cache
def monitor_cases() -> list[dict[str, Any]]:
    return _read("monitor_cases")


@cache
def config_cases() -> dict[str, list[dict[str, Any]]]:
    return _read("monitor_config_cases")


def _read(name: str) -> Any:
    return json.loads(lzma.decompress((FIXTURES / f"{name}.json.xz").read_bytes()))


def normalised(posterior: list[float]) -> list[float]:
    floored = np.maximum(np.asarray(posterior, dtype=np.float64), 1e-12)
    return (floored / floored.sum()).tolist()


def law_of(spec: str) -> tuple[list[str], str]:
    """Labels and fingerprint of `cyclic:N` and `s3`, spelled out here so that no code of ours is trusted."""
    if spec == "s3":
        elements = ["123", "132", "213", "231", "312", "321"]
        product = [
            [elements.index("".join(left[int(digit) - 1] for digit in right)) for right in elements]
            for left in elements
        ]
        name = "S3"
    else:
        size = int(spec.removeprefix("cyclic:"))
        elements = [str(label) for label in range(size)]
        product = [[(left + right) % size for right in range(size)] for left in range(size)]
        name = f"C{size}"
    inverse = [row.index(0) for row in product]
    law = {"name": name, "labels": elements, "table": product, "inverse": inverse, "identity": 0}
    return elements, peer_sha256(law)
