"""Tables and models as a source declares them: what columns memories have, and what holds the ends of edges.

Invariants
- A table is judged by all that the tree says of it: a column or a key that another file adds counts.
- SQL in strings, calls that make tables, and classes with columns are read; anything else is not seen.

Source: laws of the store, section 2.2, clauses L6 and L7.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.laws.source.trees import Module, called, last_word, text_of, texts

CREATE = re.compile(
    r"\bCREATE\s+(?:TEMP\w*\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"'`\[]?(?P<name>[\w.]+)[\"'`\]]?\s*\((?P<body>.*)",
    re.IGNORECASE | re.DOTALL,
)
ALTER = re.compile(
    r"\bALTER\s+TABLE\s+[\"'`]?(?P<name>[\w.]+)[\"'`]?\s+ADD\s+(?:COLUMN\s+)?(?P<body>.*)", re.IGNORECASE | re.DOTALL
)
KEYED = re.compile(r"\bREFERENCES\b", re.IGNORECASE)
COLUMN = re.compile(r"^[\s\"'`\[]*(?P<name>\w+)")
NO_COLUMNS = frozenset({"primary", "foreign", "unique", "check", "constraint", "exclude", "like"})
MEMORIES = re.compile(r"^(?:\w+\.)?(?:memory|memories|records?|facts?)(?:_new|_old)?$", re.IGNORECASE)
EDGES = re.compile(r"^(?:\w+\.)?\w*(?:edges?|links?|relations?|relationships?)(?:_new|_old)?$", re.IGNORECASE)
VALID = re.compile(r"valid|effective|holds_|true_(?:from|on|at)|event_time|occurred", re.IGNORECASE)
ENDS = (
    ("from_id", "to_id"), ("source", "target"), ("source_id", "target_id"), ("src", "dst"), ("parent_id", "child_id"),
    ("from_memory_id", "to_memory_id"), ("source_memory_id", "target_memory_id"), ("from_node", "to_node"),
)  # fmt: skip
TEXTS = frozenset({"content", "text", "body"})


@dataclass(frozen=True, slots=True)
class Table:
    """One mention of a table: its columns there, and those that the mention ties to another table."""

    name: str
    file: str
    line: int
    columns: frozenset[str]
    keyed: frozenset[str]
    is_made: bool

    @property
    def ends(self) -> tuple[str, str] | None:
        return next((pair for pair in ENDS if self.columns.issuperset(pair)), None)


type Hits = Iterator[tuple[str, int, str]]


def tables(modules: tuple[Module, ...]) -> tuple[Table, ...]:
    """Every table and every model that the modules declare or alter."""
    return tuple(table for module in modules for table in (*_of_sql(module), *_of_calls(module), *_of_classes(module)))


def without_valid_time(declared: tuple[Table, ...]) -> Hits:
    """A table of memories has no column that says when what it holds is true."""
    for table in declared:
        if table.is_made and MEMORIES.match(table.name) and table.columns & TEXTS:
            every = frozenset().union(*(other.columns for other in declared if _same(other, table)))
            if not any(VALID.search(column) for column in every):
                yield table.file, table.line, f"{table.name} has {len(table.columns)} columns, none of valid time"


def without_foreign_keys(declared: tuple[Table, ...]) -> Hits:
    """A table of edges lets an end be anything: nothing ties it to the table of what it joins."""
    for table in declared:
        if table.is_made and EDGES.match(table.name) and (ends := table.ends):
            keyed = frozenset().union(*(other.keyed for other in declared if _same(other, table)))
            if free := [end for end in ends if end not in keyed]:
                yield table.file, table.line, f"{table.name}: {' and '.join(free)} without a foreign key"


def unchecked_ends(module: Module) -> Iterator[tuple[int, str]]:
    """A function that writes edges looks their ends up only where it is asked to."""
    for function in module.functions:
        if not re.match(r"_?(?:add|create|save|insert|write|make)_?(?:edge|link|relation)", function.name):
            continue
        given = function.args
        positional = [*given.posonlyargs, *given.args]
        defaults = [
            *zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        for argument, default in defaults:
            is_check = re.match(r"(?:validate|check|verify|strict|ensure)", argument.arg)
            if is_check and isinstance(default, ast.Constant) and default.value is False:
                yield argument.lineno, f"{function.name}: {argument.arg} is off unless asked for"


def _same(first: Table, second: Table) -> bool:
    """The same table, or one that stands in for it while it is rebuilt."""
    plain = [re.sub(r"_(?:new|old)$", "", table.name.lower()) for table in (first, second)]
    return plain[0] == plain[1]


def _of_sql(module: Module) -> Iterator[Table]:
    for line, text in texts(ast.walk(module.tree)):
        for statement in text.split(";"):
            is_made = (made := CREATE.search(statement)) is not None
            if match := made or ALTER.search(statement):
                columns, keyed = _columns(match["body"], is_made=is_made)
                offset = text[: text.find(statement) + match.start()].count("\n")
                yield Table(match["name"], module.file, line + offset, columns, keyed, is_made)


def _columns(body: str, *, is_made: bool) -> tuple[frozenset[str], frozenset[str]]:
    """(columns, those of them that reference another table) of what stands in the brackets of a statement."""
    columns: set[str] = set()
    keyed: set[str] = set()
    for part in _parts(body) if is_made else [body]:
        name = match["name"].lower() if (match := COLUMN.match(part)) else ""
        if name in NO_COLUMNS:
            named = re.search(r"FOREIGN\s+KEY\s*\((?P<names>[^)]*)\)", part, re.IGNORECASE)
            keyed.update(re.findall(r"\w+", named["names"].lower()) if named else ())
        elif name:
            columns.add(name)
            keyed.update({name} if KEYED.search(part) else ())
    return frozenset(columns), frozenset(keyed)


def _parts(body: str) -> list[str]:
    """The declarations of a table: what stands between commas that no bracket holds, up to the closing one."""
    parts: list[str] = []
    depth = start = 0
    for position, character in enumerate(body):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        if depth < 0:
            return [*parts, body[start:position]]
        if character == "," and not depth:
            parts.append(body[start:position])
            start = position + 1
    return [*parts, body[start:]]


def _of_calls(module: Module) -> Iterator[Table]:
    """Tables made, and columns added, by calls such as `create_table("edges", Column("from_id", …), …)`."""
    for node in ast.walk(module.tree):
        is_made = called(node) in {"create_table", "Table"}
        if not isinstance(node, ast.Call) or not (is_made or called(node) in {"add_column", "create_foreign_key"}):
            continue
        strings = [text_of(argument) for argument in node.args]
        named = strings[1] if called(node) == "create_foreign_key" and len(strings) > 1 else (strings or [""])[0]
        columns = {name for inner in ast.walk(node) if (name := _column_made(inner))}
        if named:
            yield Table(named, module.file, node.lineno, frozenset(columns), _keyed_in(node, columns), is_made)


def _column_made(node: ast.AST) -> str:
    """The name of the column that a call makes; "" for any other node."""
    return (
        text_of(node.args[0]).lower() if isinstance(node, ast.Call) and called(node) == "Column" and node.args else ""
    )


def _of_classes(module: Module) -> Iterator[Table]:
    """Classes with annotated or assigned columns; one that inherits them from elsewhere shows fewer than it has.

    Foreign keys are asked for where the class declares columns of a database, not of a plain value.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            columns = {name for statement in node.body for name in _assigned(statement)}
            keyed = _keyed_in(node, columns) if _is_mapped(node) else frozenset(columns)
            yield Table(node.name, module.file, node.lineno, frozenset(columns), keyed, is_made=True)


def _is_mapped(node: ast.ClassDef) -> bool:
    values = [one.value for one in node.body if isinstance(one, ast.Assign | ast.AnnAssign) and one.value is not None]
    return any(re.search(r"(?:.Field|Column|_column)$", called(value)) for value in values)


def _assigned(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.AnnAssign):
        yield last_word(statement.target).lower()
    elif isinstance(statement, ast.Assign):
        yield from (last_word(target).lower() for target in statement.targets)


def _keyed_in(node: ast.AST, columns: set[str]) -> frozenset[str]:
    """The columns that a foreign key names, or is the value of."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and _is_key(called(inner)):
            found.update(text_of(value).lower() for value in ast.walk(inner))
        if isinstance(inner, ast.Assign | ast.AnnAssign) and inner.value is not None and _is_key(called(inner.value)):
            found.update(_assigned(inner))
        if (name := _column_made(inner)) and any(_is_key(called(part)) for part in ast.walk(inner)):
            found.add(name)
    # A key that is added to a table made elsewhere names columns that do not stand here.
    return frozenset(found & columns if columns else found)


def _is_key(name: str) -> bool:
    """True for what ties a column to another table, by the word that such calls end with."""
    plain = name.lower().replace("_", "")
    return plain.endswith(("key", "keyconstraint")) and not any(word in plain for word in ("primary", "unique"))
