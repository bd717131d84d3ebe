"""Arithmetic runs without a framework."""

import json
import subprocess
import sys

from tests.architecture.sources import ROOT, dotted, kernels

FORBIDDEN = ("django", "ninja", "pydantic", "psycopg", "sqlite3")
CODE = f"""
import importlib, json, sys
loaded = {{}}
for name in sys.argv[1:]:
    importlib.import_module(name)
    found = [root for root in {FORBIDDEN!r} if root in sys.modules]
    if found and not loaded:
        loaded[name] = found
print(json.dumps(loaded))
"""


def test_a_kernel_loads_no_framework_in_a_fresh_interpreter() -> None:
    names = [dotted(path) for path in kernels()]
    assert "memory.base.canonical" in names
    done = subprocess.run([sys.executable, "-c", CODE, *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {}
