"""A tree of Python files as syntax trees, and the small questions that patterns ask of them.

Invariants
- Files are read in the order of their names; symbolic links, hidden folders and caches are not followed.
- Nothing is imported and nothing runs; a file that does not parse, or is too large or too deep, is named and left out.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

MOST_BYTES = 2_000_000
# Patterns follow expressions by recursion; what people write is nested some twenty times.
MOST_NESTED = 100
SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})

type Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One file: its name inside the tree and its syntax tree."""

    file: str
    tree: ast.Module
    functions: tuple[Function, ...] = field(init=False, repr=False, compare=False)
    """Every function and method, in the order in which they are written."""

    def __post_init__(self) -> None:
        found = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        ordered = tuple(sorted(found, key=lambda node: (node.lineno, node.col_offset)))
        object.__setattr__(self, "functions", ordered)


@dataclass(frozen=True, slots=True)
class Tree:
    """All modules of a folder, and the files that could not be read."""

    modules: tuple[Module, ...]
    unread: tuple[str, ...]


def read_tree(folder: Path) -> Tree:
    """Parse every Python file under the folder."""
    modules, unread = [], []
    for path in sorted(_files(folder)):
        name = path.relative_to(folder).as_posix()
        found = _parsed(path)
        if found is None or _is_too_deep(found):
            unread.append(name)
        else:
            modules.append(Module(name, found))
    return Tree(tuple(modules), tuple(unread))


def _parsed(path: Path) -> ast.Module | None:
    """The syntax tree of a file; None where it has none."""
    try:
        return ast.parse(path.read_bytes()) if path.stat().st_size <= MOST_BYTES else None
    # The parser tells of a stack that overflowed by MemoryError.
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
        return None


def _is_too_deep(tree: ast.Module) -> bool:
    """True where expressions stand in expressions more often than recursion could follow."""
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        depth = 0 if isinstance(node, ast.stmt) else depth + isinstance(node, ast.expr)
        if depth > MOST_NESTED:
            return True
        waiting.extend((child, depth) for child in ast.iter_child_nodes(node))
    return False


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, files in folder.walk():
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith(".")]
        yield from (here / name for name in files if name.endswith(".py") and not (here / name).is_symlink())


# Every pattern walks over every function: what one walk found serves the others, for as long as the tree is held.
_found: WeakKeyDictionary[ast.AST, tuple[ast.AST, ...]] = WeakKeyDictionary()


def own_nodes(function: Function) -> tuple[ast.AST, ...]:
    """The nodes of a function's body without those of functions and classes defined inside it."""
    found = _found.get(function)
    if found is None:
        found = _found[function] = tuple(_walked(function))
    return found


def _walked(function: Function) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def called(node: ast.AST) -> str:
    """The last word of what is called: `add_edge` for `self.store.add_edge(…)`; "" for anything but a call."""
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def last_word(node: ast.AST) -> str:
    """A name, the attribute at the end of a chain, or the text of a string; "" for anything else."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
        case ast.Constant(value=str(word)):
            return word
        case _:
            return ""


def root(node: ast.AST) -> str:
    """The name at the beginning of a chain: `memories` for `memories[0].metadata`; "" where there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def arguments(call: ast.Call) -> Iterator[ast.expr]:
    """Every value handed to a call, named or not."""
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def bindings(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """(name, value) of each simple assignment; each name of an unpacked tuple is bound to the whole value."""
    for node in own_nodes(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from ((name, node.value) for name in _names(target))
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield from ((name, node.value) for name in _names(node.target))


def _names(target: ast.AST) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _names(element)


def text_of(node: ast.AST) -> str:
    """The text of a string, with "?" for what is filled in; "" for anything but a string."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "?" for part in parts)
        case _:
            return ""


def texts(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """(line, text) of every string among the nodes, one that stands inside another left out."""
    inner: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            inner.update(id(part) for part in node.values)
        if id(node) not in inner and (text := text_of(node)):
            yield getattr(node, "lineno", 0), text
