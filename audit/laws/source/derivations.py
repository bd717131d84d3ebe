"""Shapes of derivations: functions that make a record out of others and say so in its metadata or its edges.

Invariants
- A function derives where it names an ancestry relation in a mapping it builds, or writes an edge of one.
- Each finder answers lines and words; it reads one function at a time and knows nothing of other files.

Source: laws of the store, section 2.2.
"""

import ast
from collections.abc import Iterator

from audit.laws.relations import ANCESTRY, DERIVED, INVERSE, RELATION_OF
from audit.laws.source.trees import (
    Function,
    Module,
    arguments,
    bindings,
    called,
    last_word,
    own_nodes,
    root,
)

type Hits = Iterator[tuple[int, str]]

# What a derivation writes, and what must stand beside it.
BESIDE = {relation: INVERSE[relation] for relation in RELATION_OF.values()}
WRITES = ("add", "create", "save", "insert", "write", "store", "put", "make", "record")
TIES = ("edge", "link", "relation")
READS = ("recall", "get", "fetch", "load", "find", "read", "lookup")
CHANGES = frozenset({"update", "append", "extend", "insert", "pop", "clear", "remove", "setdefault", "add", "discard"})


def double_writes(module: Module) -> Hits:
    """Ancestry stands in the record and in an edge, and an edge whose write fails is passed over."""
    for function in module.functions:
        claims = [line for line, _ in _claims(function)]
        if not claims:
            continue
        for node in own_nodes(function):
            writes = [call for call in _guarded(node) if _relation(call) in ANCESTRY]
            if writes and (at := _swallows(node)):
                both = f"line {claims[0]} claims the ancestry in the record, line {writes[0].lineno} writes its edge"
                yield at, f"{function.name}: {both}, and a failure of that is passed over here"


def copied_metadata(module: Module) -> Hits:
    """A derived record is given all metadata of an older one, the ancestry claimed there among them."""
    carriers = {function.name for function in module.functions if _hands_on_metadata(function)}
    for function in module.functions:
        bound = {name for name, value in bindings(function) if _is_whole(value) or called(value) in carriers}
        for _, mapping in _claims(function):
            for key, value in zip(mapping.keys, mapping.values, strict=True):
                if key is None and (_is_whole(value) or (isinstance(value, ast.Name) and value.id in bound)):
                    yield value.lineno, f"{function.name}: all of {ast.unparse(value)} beside its own ancestry"


def first_arguments_namespace(module: Module) -> Hits:
    """The result is filed under the namespace of the first of several arguments, and nothing compares them."""
    for function in module.functions:
        if any(_compares_namespaces(node) for node in own_nodes(function)):
            continue
        firsts = {name for name, value in bindings(function) if _is_first(value)}
        for node in own_nodes(function):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                value = keyword.value
                if not (_speaks_of_namespace(keyword.arg or "") and isinstance(value, ast.Attribute)):
                    continue
                taken = _is_first(value.value) or (isinstance(value.value, ast.Name) and value.value.id in firsts)
                if taken and _speaks_of_namespace(value.attr):
                    yield value.lineno, f"{function.name}: {keyword.arg} is {ast.unparse(value)}, nothing is compared"


def foreign_namespaces(module: Module) -> Hits:
    """A derived record takes its namespace from something that the operation does not name."""
    for function in module.functions:
        if not any(True for _ in _claims(function)):
            continue
        given = function.args
        named = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)} - {"self", "cls"}
        local = {name for name, _ in bindings(function)} | _loop_names(function)
        for node in own_nodes(function):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if _speaks_of_namespace(keyword.arg or "") and root(keyword.value) not in named | local:
                    yield keyword.value.lineno, f"{function.name}: {keyword.arg} is {ast.unparse(keyword.value)}"


def changed_records(module: Module) -> Hits:
    """A derivation assigns to a record that it has read."""
    for function in module.functions:
        if not any(True for _ in _claims(function)):
            continue
        held = _records_read(function)
        for node in own_nodes(function):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AugAssign | ast.AnnAssign):
                targets = [node.target]
            elif isinstance(node, ast.Call) and called(node) in CHANGES and isinstance(node.func, ast.Attribute):
                # A method of what the record holds changes the record; one of the record itself may be anything.
                targets = [node.func.value]
            for target in targets:
                if isinstance(target, ast.Attribute | ast.Subscript) and root(target) in held:
                    yield target.lineno, f"{function.name}: {ast.unparse(target)} of a record that was read is changed"


def lonely_edges(module: Module) -> Hits:
    """An edge of a derivation is written, and its inverse is not written beside it."""
    for function in module.functions:
        for block in _blocks(function):
            written = [(call, _relation(call)) for statement in block for call in _calls_of(statement)]
            words = {relation for _, relation in written}
            for call, relation in written:
                if relation in BESIDE and BESIDE[relation] not in words:
                    yield call.lineno, f"{function.name}: {relation} without {BESIDE[relation]} beside it"


def _claims(function: Function) -> Iterator[tuple[int, ast.Dict]]:
    """(line, mapping) of each mapping that a function builds with an ancestry relation as a key."""
    for node in own_nodes(function):
        if isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and key.value in ANCESTRY:
                    yield key.lineno, node
                    break


def _relation(call: ast.Call) -> str:
    """The relation of derivations that a call writes an edge of; "" for any other call."""
    name = called(call).lower()
    if not (any(tie in name for tie in TIES) and (name in TIES or any(name.startswith(verb) for verb in WRITES))):
        return ""
    words = (last_word(value).lower() for value in arguments(call))
    return next((word for word in words if word in DERIVED), "")


def _calls_of(node: ast.AST) -> Iterator[ast.Call]:
    """Calls of one statement that are no part of a block inside it."""
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _calls_of(child)


def _blocks(function: Function) -> Iterator[list[ast.stmt]]:
    yield function.body
    for node in own_nodes(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _guarded(node: ast.AST) -> Iterator[ast.Call]:
    """Calls whose failure the node may pass over."""
    if isinstance(node, ast.Try | ast.With):
        for statement in node.body:
            yield from (inner for inner in ast.walk(statement) if isinstance(inner, ast.Call))


def _swallows(node: ast.AST) -> int:
    """The line at which a failure inside the node is passed over; 0 where it is told to the caller."""
    if isinstance(node, ast.Try):
        for caught in node.handlers:
            if not any(isinstance(inner, ast.Raise) for inner in ast.walk(caught)):
                return caught.lineno
    if isinstance(node, ast.With):
        return next((item.context_expr.lineno for item in node.items if called(item.context_expr) == "suppress"), 0)
    return 0


def _is_whole(node: ast.expr) -> bool:
    """True for a record's metadata, taken or copied whole."""
    if isinstance(node, ast.Attribute):
        return node.attr == "metadata"
    if isinstance(node, ast.Subscript):
        return last_word(node.slice) == "metadata"
    if isinstance(node, ast.Call):
        name = called(node)
        if name in {"copy", "deepcopy"} and isinstance(node.func, ast.Attribute) and _is_whole(node.func.value):
            return True
        return name in {"dict", "copy", "deepcopy"} and any(_is_whole(value) for value in node.args)
    return isinstance(node, ast.Dict) and any(
        key is None and _is_whole(value) for key, value in zip(node.keys, node.values, strict=True)
    )


def _hands_on_metadata(function: Function) -> bool:
    """True for a function that gathers whole metadata in a name that it returns."""
    returned = {
        name.id
        for node in own_nodes(function)
        if isinstance(node, ast.Return) and node.value is not None
        for name in ast.walk(node.value)
        if isinstance(name, ast.Name)
    }
    if any(name in returned and _is_whole(value) for name, value in bindings(function)):
        return True
    updates = (node for node in own_nodes(function) if isinstance(node, ast.Call) and called(node) == "update")
    return any(root(node.func) in returned and any(_is_whole(value) for value in node.args) for node in updates)


def _speaks_of_namespace(word: str) -> bool:
    return "namespace" in word.lower() or "tenant" in word.lower()


def _compares_namespaces(node: ast.AST) -> bool:
    """True for a comparison that names a namespace, and for a set of namespaces, whose size tells them apart."""
    if not isinstance(node, ast.Compare | ast.SetComp):
        return False
    compared = node if isinstance(node, ast.Compare) else node.elt
    return any(_speaks_of_namespace(last_word(inner)) for inner in ast.walk(compared))


def _is_first(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0


def _loop_names(function: Function) -> set[str]:
    loops = (node for node in own_nodes(function) if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension))
    return {name.id for loop in loops for name in ast.walk(loop.target) if isinstance(name, ast.Name)}


def _records_read(function: Function) -> set[str]:
    """Names that stand for a record that the function has read, loop variables over such records among them."""
    held = {name for name, value in bindings(function) if called(value).lower().lstrip("_").startswith(READS)}
    gathered = {
        root(node.func)
        for node in own_nodes(function)
        if isinstance(node, ast.Call) and called(node) == "append" and any(root(value) in held for value in node.args)
    }
    for node in own_nodes(function):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and root(node.iter) in gathered | held:
            held.add(node.target.id)
    return held
