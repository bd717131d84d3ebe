"""Choices that hang on an order which nothing declares: of a set, or of the rows of a table.

Source: laws of the store, section 2.2, clause L5.
"""

import ast
import re
from collections.abc import Iterator

from audit.laws.source.trees import Function, Module, bindings, called, own_nodes, texts

type Hits = Iterator[tuple[int, str]]

SETS = frozenset({"set", "frozenset"})
ORDERLESS = frozenset({"sorted", "set", "frozenset", "len", "sum", "fsum", "any", "all"})
PREFIX = re.compile(r"\bSELECT\b.*\b(?:\w*_)?id\s+I?(?:LIKE|GLOB)\s+(?:\?|%s|%\(|:|\$|')", re.IGNORECASE | re.DOTALL)
ORDERED = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
ONE_ROW = re.compile(r"\bLIMIT\s+1\b", re.IGNORECASE)
PREFIX_LOOKUP = re.compile(r"^(?:\w+__)?(?:id|pk|\w+_id)__i?startswith$")


def choices_over_sets(module: Module) -> Hits:
    """One of several is chosen, or a list is made, in the order in which a set hands its members out."""
    for function in module.functions:
        sets = {name for name, value in bindings(function) if _is_set(value, frozenset())}
        guarded = _guarded_by_length(function)
        harmless = _inside(function, ORDERLESS) | _worklists(function)
        for node in own_nodes(function):
            if not isinstance(node, ast.Call) or not node.args or id(node) in guarded:
                continue
            name, first = called(node), node.args[0]
            if name in {"max", "min"} and _is_set(first, sets) and _may_tie(node):
                yield node.lineno, f"{function.name}: a tie in {ast.unparse(node)} goes to whichever comes first"
            elif name == "next" and called(first) == "iter" and _of_set(first, sets):
                yield node.lineno, f"{function.name}: {ast.unparse(node)} is any member of a set"
            elif name in {"list", "tuple", "join"} and _is_set(first, sets) and id(node) not in harmless:
                yield node.lineno, f"{function.name}: {ast.unparse(node)} keeps the order of a set"


def prefix_matches(module: Module) -> Hits:
    """An id is looked up by how it begins, without an order, and one of the rows is taken."""
    for function in module.functions:
        nodes = list(own_nodes(function))
        takes_one = any(called(node) in {"fetchone", "scalar", "one", "first"} for node in nodes)
        for line, text in texts(nodes):
            if PREFIX.search(text) and not ORDERED.search(text) and (takes_one or ONE_ROW.search(text)):
                yield line, f"{function.name}: one of the rows whose id begins so, in no declared order"
        for node in nodes:
            if called(node) == "first" and (found := _prefix_lookup(node)):
                yield found.lineno, f"{function.name}: the first of the rows whose id begins so"


def _is_set(node: ast.expr, names: frozenset[str] | set[str]) -> bool:
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.Name):
        return node.id in names
    name = called(node)
    if name in SETS:
        return True
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if is_method and name in {"intersection", "union", "difference", "symmetric_difference"}:
        return True
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.Sub)
        and (_is_set(node.left, names) or _is_set(node.right, names))
    )


def _of_set(call: ast.expr, names: set[str]) -> bool:
    return isinstance(call, ast.Call) and bool(call.args) and _is_set(call.args[0], names)


def _may_tie(call: ast.Call) -> bool:
    """True where a key is given and it is not a tuple, whose last part can settle a tie."""
    key = next((keyword.value for keyword in call.keywords if keyword.arg == "key"), None)
    return key is not None and not (isinstance(key, ast.Lambda) and isinstance(key.body, ast.Tuple))


def _guarded_by_length(function: Function) -> set[int]:
    """Nodes that are only reached where the length of something was compared: there is nothing left to choose."""
    found: set[int] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.If | ast.IfExp) and any(called(inner) == "len" for inner in ast.walk(node.test)):
            bodies = node.body if isinstance(node.body, list) else [node.body]
            found.update(id(inner) for body in bodies for inner in ast.walk(body))
    return found


def _inside(function: Function, names: frozenset[str]) -> set[int]:
    """Nodes that are handed straight to a call whose result knows no order of its own."""
    return {
        id(value)
        for node in own_nodes(function)
        if isinstance(node, ast.Call) and called(node) in names
        for value in node.args
    }


def _worklists(function: Function) -> set[int]:
    """Lists that are emptied one by one: what is gathered on the way is judged where it is gathered."""
    emptied = {
        node.func.value.id
        for node in own_nodes(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop"
        if isinstance(node.func.value, ast.Name)
    }
    return {id(value) for name, value in bindings(function) if name in emptied}


def _prefix_lookup(call: ast.AST) -> ast.expr | None:
    """The lookup by prefix in a chain of calls that ends in `call`; None where there is none, or an order is given."""
    found: ast.expr | None = None
    node: ast.AST = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"order_by", "earliest", "latest"}:
            return None
        for keyword in node.keywords:
            if PREFIX_LOOKUP.match(keyword.arg or ""):
                found = keyword.value
        node = node.func.value
    return found
