"""Where the sources are, for the tests of this folder."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("memory", "audit")
# Folders of memory that are no slices.
NO_SLICES = frozenset({"base", "migrations", "management"})


def modules(*packages: str) -> list[Path]:
    """Every module of these packages; generated migrations are left out."""
    found = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.relative_to(ROOT).parts)


def slices() -> list[str]:
    folders = [path for path in (ROOT / "memory").iterdir() if (path / "__init__.py").exists()]
    return sorted(path.name for path in folders if path.name not in NO_SLICES)


def kernels() -> list[Path]:
    """The modules that must run without a framework."""
    named = [path for path in modules("memory") if "kernel" in path.with_suffix("").parts]
    pure = [ROOT / "memory" / "base" / f"{name}.py" for name in ("canonical", "intervals")]
    return sorted({*named, *pure, *modules("audit/charts")})


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def short(path: Path) -> str:
    """The name of a source in the report of a test."""
    return str(path.relative_to(ROOT))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Each call with the dotted name of what is called, where it has one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node
