"""Patterns in source code: each is found where it stands, and not where code only looks like it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from audit.laws.source.patterns import PATTERNS, read_source
from audit.laws.source.values import Place, SourceReport
from audit.laws.values import CLAUSE_NAMES

ROOT = Path(__file__).parent.parent.parent

# name of the pattern: code that holds it, with the line marked, and code that only looks like it.
PLANTED: dict[str, tuple[str, str]] = {
    "record-changed": (
        """
        def evolve(self, record_id, text):
            old = self.store.recall(record_id)
            old.metadata["changed"] = True  # here
            return self.store.save(Record(text, metadata={"evolved_from": record_id}))
        """,
        """
        def evolve(self, record_id, text):
            old = self.store.recall(record_id)
            tags = list(old.tags)
            tags.extend(["evolved"])
            new = Record(text, tags=tags, metadata={"evolved_from": record_id})
            new.metadata["changed"] = True
            return self.store.save(new)
        """,
    ),
    "ancestry-written-twice": (
        """
        def evolve(self, record_id, text):
            new = self.store.save(Record(text, metadata={"evolved_from": record_id}))
            try:
                self.store.add_edge(new.id, record_id, Relation.EVOLVED_FROM)
                self.store.add_edge(record_id, new.id, Relation.EVOLVED_INTO)
            except Exception as error:  # here
                logger.warning("no edge: %s", error)
            return new
        """,
        """
        def evolve(self, record_id, text):
            new = self.store.save(Record(text, metadata={"evolved_from": record_id}))
            try:
                self.store.add_edge(new.id, record_id, Relation.EVOLVED_FROM)
                self.store.add_edge(record_id, new.id, Relation.EVOLVED_INTO)
            except Exception as error:
                logger.warning("no edge: %s", error)
                raise
            return new
        """,
    ),
    "metadata-copied-whole": (
        """
        def split(self, old, parts):
            return [
                Record(part, metadata={
                    **old.metadata,  # here
                    "split_from": old.id,
                })
                for part in parts
            ]
        """,
        """
        def split(self, old, parts):
            carried = {key: value for key, value in old.metadata.items() if key not in RESERVED}
            return [Record(part, metadata={**carried, "split_from": old.id}) for part in parts]
        """,
    ),
    "inverse-not-beside": (
        """
        def supersede(self, old, new):
            self.store.add_edge(new, old, relation="supersedes")  # here
        """,
        """
        def supersede(self, old, new):
            edge = self.store.add_edge(new, old, relation="supersedes")
            # What leads back stands beside it.
            self.store.add_edge(old, new, relation="superseded_by")
            return edge, self.store.get_edges(old, relation="supersedes")
        """,
    ),
    "namespace-not-named": (
        """
        def evolve(self, old, text):
            return Record(text, metadata={"evolved_from": old.id}, namespace=settings.NAMESPACE)  # here
        """,
        """
        def evolve(self, old, text):
            namespace = settings.NAMESPACE
            log("evolving in", namespace)
            return Record(text, metadata={"evolved_from": old.id}, namespace=old.namespace)
        """,
    ),
    "first-arguments-namespace": (
        """
        def merge(self, records):
            return Record("both", namespace_id=records[0].namespace_id)  # here
        """,
        """
        def merge(self, records):
            if len({record.namespace_id for record in records}) > 1:
                raise ValueError("one namespace at a time")
            return Record("both", namespace_id=records[0].namespace_id, type=records[0].type)
        """,
    ),
    "order-of-a-set": (
        """
        def kind(types):
            return max(set(types), key=types.count)  # here
        """,
        """
        def kind(types):
            most = max(set(types))
            tied = sorted(list(set(types)), key=types.count)
            ahead = list(set(types))
            while ahead:
                ahead.pop()
            only = {name for name in types}
            if len(only) == 1:
                return next(iter(only))
            return max(set(types), key=lambda name: (types.count(name), name)), most, tied
        """,
    ),
    "prefix-without-order": (
        """
        def recall(self, prefix):
            self.cursor.execute(
                "SELECT * FROM notes WHERE id LIKE ?",  # here
                (f"{prefix}%",),
            )
            return self.cursor.fetchone()
        """,
        """
        def candidates(self, prefix):
            self.cursor.execute("SELECT id FROM notes WHERE id LIKE ? ORDER BY id", (f"{prefix}%",))
            found = self.cursor.fetchall()
            self.cursor.execute("SELECT id FROM notes WHERE body LIKE ?", (f"%{prefix}%",))
            return found, self.cursor.fetchone(), Note.objects.filter(id__startswith=prefix).order_by("id").first()
        """,
    ),
    "no-valid-time": (
        '''
        SCHEMA = """
            CREATE TABLE IF NOT EXISTS memories (  -- here
                id TEXT PRIMARY KEY,
                content TEXT NOT NULL,
                created_at TEXT NOT NULL
            )
        """
        ''',
        '''
        SCHEMA = """
            CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL, created_at TEXT NOT NULL);
            CREATE TABLE memory_edges (id TEXT PRIMARY KEY, content TEXT);
            ALTER TABLE memories ADD COLUMN valid_from TEXT
        """
        ''',
    ),
    "no-foreign-key": (
        """
        def upgrade():
            op.create_table(  # here
                "memory_edges",
                Column("from_id", Text, nullable=False),
                Column("to_id", Text, nullable=False),
                PrimaryKeyConstraint("from_id", "to_id"),
            )
        """,
        '''
        """CREATE TABLE notes (from_id TEXT, to_id TEXT)"""

        def upgrade():
            op.create_table("edges", Column("from_id", Text, ForeignKey("notes.id")), Column("to_id", Text))
            op.create_foreign_key("edge_to", "edges", "notes", ["to_id"], ["id"])
            run("CREATE TABLE links (source TEXT REFERENCES notes (id), target TEXT, weight DECIMAL(3, 2),"
                " FOREIGN KEY (target) REFERENCES notes (id))")

        class Link:
            source: str
            target: str
        ''',
    ),
    "ends-not-looked-up": (
        """
        class Store:
            def add_edge(self, source, target, relation, validate=False):  # here
                self.rows.append((source, relation, target))
        """,
        """
        class Store:
            def add_edge(self, source, target, relation, weight=1.0, *, validate=True, overwrite=False):
                self.rows.append((source, relation, target))

            def render(self, text, validate=False):
                return text
        """,
    ),
}


def reading(folder: Path, code: str) -> SourceReport:
    (folder / "store.py").write_text(dedent(code))
    return read_source(folder)


def places(report: SourceReport, name: str) -> tuple[Place, ...]:
    (found,) = (one for clause in report.clauses for one in clause.patterns if one.name == name)
    return found.places


def test_every_pattern_has_its_planted_fault_and_its_look_alike() -> None:
    assert {pattern.name for pattern in PATTERNS} == PLANTED.keys()
    assert {pattern.clause for pattern in PATTERNS} == set(CLAUSE_NAMES)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_pattern_is_found_at_its_line(tmp_path: Path, name: str) -> None:
    code = PLANTED[name][0]
    report = reading(tmp_path, code)
    (line,) = (n for n, text in enumerate(dedent(code).splitlines(), start=1) if "here" in text)
    found = places(report, name)
    assert [(place.file, place.line) for place in found] == [("store.py", line)], report
    (pattern,) = (one for one in PATTERNS if one.name == name)
    assert report.clause(pattern.clause).verdict == "pattern found"


@pytest.mark.parametrize("name", PLANTED)
def test_what_only_looks_like_a_pattern_is_not_reported(tmp_path: Path, name: str) -> None:
    assert places(reading(tmp_path, PLANTED[name][1]), name) == ()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (
            "ancestry-written-twice",
            """
            def evolve(self, old):
                new = Record(metadata={"evolved_from": old})
                with suppress(Exception):
                    self.add_edge(new, old, "evolved_from")
            """,
        ),
        (
            "metadata-copied-whole",
            """
            def gathered(records):
                together = {}
                for record in records:
                    together.update(record.metadata)
                return together

            def merge(records):
                metadata = gathered(records)
                return Record(metadata={**metadata, "merged_from": [record.id for record in records]})
            """,
        ),
        ("metadata-copied-whole", 'def evolve(old):\n    return {**dict(old["metadata"]), "split_from": old.id}\n'),
        (
            "record-changed",
            """
            def merge(self, ids):
                records = []
                for id in ids:
                    record = self.recall(id)
                    records.append(record)
                for one in records:
                    one.tags.append("merged")
                return {"merged_from": ids}
            """,
        ),
        ("first-arguments-namespace", "def merge(all):\n    a = all[0]\n    return Record(namespace=a.namespace)\n"),
        ("order-of-a-set", "def tags(all):\n    found = {tag for tag in all}\n    return Record(tags=list(found))\n"),
        ("order-of-a-set", "def any_of(all):\n    return next(iter({*all}))\n"),
        ("prefix-without-order", "def get(p):\n    return Note.objects.filter(pk__startswith=p).first()\n"),
        ("no-valid-time", "class Memory(Model):\n    id: str\n    content: str\n    created_at: datetime\n"),
        (
            "no-foreign-key",
            """
            class Edge(Model):
                source = UUIDField()
                target = UUIDField()
                pk = CompositePrimaryKey("source", "target")
            """,
        ),
    ],
)  # fmt: skip
def test_a_pattern_is_found_in_other_words_too(tmp_path: Path, name: str, code: str) -> None:
    assert len(places(reading(tmp_path, code), name)) == 1


def test_a_table_is_judged_by_all_that_the_tree_says_of_it(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text('MADE = "CREATE TABLE memories (id TEXT, content TEXT)"\n')
    assert read_source(tmp_path).clause("L6").verdict == "pattern found"
    (tmp_path / "second.py").write_text('op.add_column("memories", Column("valid_from", Text))\n')
    assert read_source(tmp_path).clause("L6").verdict == "not found"


def test_without_a_source_every_clause_is_skipped_and_the_report_says_why(tmp_path: Path) -> None:
    for folder, why in ((tmp_path / "nowhere", "no such folder"), (tmp_path, "no Python file")):
        report = read_source(folder)
        assert {clause.verdict for clause in report.clauses} == {"skipped"}
        assert why in report.refusal
        assert report.as_json()["clauses"]["L2"]["verdict"] == "skipped"


def test_a_file_that_does_not_parse_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "nul.py").write_bytes(b"x = 1\0\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "planted.py").write_text(PLANTED["order-of-a-set"][0])
    report = reading(tmp_path, PLANTED["no-foreign-key"][0])
    assert report.unread == ("broken.py", "nul.py")
    assert report.n_files == 1
    assert (report.clause("L7").verdict, report.clause("L5").verdict) == ("pattern found", "not found")


def test_nothing_that_is_read_is_run(tmp_path: Path) -> None:
    reading(tmp_path, 'open(__file__ + ".ran", "w").close()\nraise SystemExit(1)\n')
    assert [path.name for path in tmp_path.iterdir()] == ["store.py"]


def test_a_report_says_that_it_proves_nothing_and_names_files_and_lines(tmp_path: Path) -> None:
    told = reading(tmp_path, PLANTED["ends-not-looked-up"][0]).as_json()
    assert told["proves"].startswith("nothing")
    (place,) = told["clauses"]["L7"]["patterns"]["ends-not-looked-up"]
    assert (place["file"], place["line"]) == ("store.py", 3)


@pytest.mark.parametrize("folder", ["memory", "audit"])
def test_our_own_source_holds_no_pattern(folder: str) -> None:
    report = read_source(ROOT / folder)
    assert report.n_files > 50
    assert report.unread == ()
    found = [place for clause in report.clauses for place in clause.places]
    assert found == []


def test_our_own_edges_would_be_reported_without_their_keys(tmp_path: Path) -> None:
    source = (ROOT / "memory" / "lineage" / "models.py").read_text()
    assert places(reading(tmp_path, source), "no-foreign-key") == ()
    assert len(places(reading(tmp_path, source.replace("record_key(", "record_note(")), "no-foreign-key")) == 1


@pytest.mark.parametrize(
    "expression", ["-" * 200_000 + "1", "a" + ".b" * 5_000, "a" + ".b()" * 3_000, "list(" + "s | " * 900 + "s)"]
)
def test_an_expression_too_deep_to_follow_is_told_and_the_other_files_are_read(tmp_path: Path, expression: str) -> None:
    (tmp_path / "deep.py").write_text(f"def f(a):\n    s = set(a)\n    return max(s, {expression}, key=g)\n")
    (tmp_path / "plain.py").write_text("def f(a):\n    return max(set(a), key=g)\n")
    report = read_source(tmp_path)
    assert (report.n_files, report.unread) == (1, ("deep.py",))
    assert [place.file for place in report.clause("L5").places] == ["plain.py"]
