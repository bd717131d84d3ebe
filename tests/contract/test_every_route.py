"""What holds for every route, tried at every route that the document of the API lists.

A new route is picked up by itself; without a request that succeeds there, it fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.urls import URLPattern

from memory.api.site import api
from memory.base.actor import Actor
from memory.ledger.models import Entry
from tests.contract.callers import CSRF_TOKEN, NOTHING, Caller, caller, places
from tests.contract.routes import PREFIX, Route, leaves, put, resolved, routes, variant
from tests.contract.stage import EXAMPLES, NAMING, Example, Stage

pytestmark = pytest.mark.django_db

ROUTES = routes()
WITH_BODY = [route for route in ROUTES if route.body is not None]
WRITES = [route for route in ROUTES if route.is_write]
HUGE = (10**30, 2**63, -(2**63), -1)


def name_of(route: Route) -> str:
    return route.operation


# What is refused before any table is asked.
on_one_engine = pytest.mark.sqlite_only
every_route = pytest.mark.parametrize("route", ROUTES, ids=name_of)
every_body = pytest.mark.parametrize("route", WITH_BODY, ids=name_of)


class Trial:
    """A route with its example: sends it changed, and tells what was written."""

    def __init__(self, stage: Stage, route: Route) -> None:
        self.stage, self.route = stage, route
        self.example: Example = EXAMPLES[route.operation](stage)
        self.by: Actor = self.example.by(stage)

    def send(self, who: Caller | None = None, **changed: Any) -> HttpResponse:
        told = {"query": self.example.query, "headers": {}, "content_type": self.example.content_type}
        sent = {"body": self.body(), **told, **changed}
        found = who or caller(self.stage, self.by)
        return found.call(self.route.method, sent.pop("path", self.example.path), sent.pop("body"), **sent)

    def body(self) -> Any:
        return NOTHING if self.example.body is None else self.example.body

    @property
    def schema(self) -> Any:
        """The schema of the object that the body is, or of one item of a list."""
        assert self.route.body is not None
        found = variant(self.route.body, self.example.body)
        return resolved(found["items"]) if found.get("type") == "array" else found

    def with_(self, at: tuple[str | int, ...], value: Any) -> Any:
        """The body with another value at a place of its object."""
        return put(self.example.body, (*self.prefix, *at), value)

    @property
    def prefix(self) -> tuple[int, ...]:
        return (0,) if isinstance(self.example.body, list) else ()


@pytest.fixture
def trial(stage: Stage, route: Route) -> Trial:
    return Trial(stage, route)


def written() -> dict[str, int]:
    """How many rows every table has."""
    models = [*apps.get_app_config("memory").get_models(), User]
    tables = [model._meta.db_table for model in models]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}', COUNT(*) FROM {table}" for table in tables))
        return dict(cursor.fetchall())


def refused(response: HttpResponse, status: int, code: str) -> bool:
    problem = response.json() if response.headers["Content-Type"] == "application/problem+json" else {}
    return (response.status_code, problem.get("status"), problem.get("code")) == (status, status, code)


def told(response: HttpResponse) -> dict[str, Any]:
    """The answer; a file says beside itself by which point it was read."""
    if "Content-Disposition" in response.headers:
        return {"seq": int(response.headers["Palimpsest-Seq"])}
    found: dict[str, Any] = response.json()
    return found


def test_every_route_has_a_request_that_succeeds() -> None:
    assert {route.operation for route in ROUTES} == EXAMPLES.keys()
    assert EXAMPLES.keys() >= NAMING
    by_id = {
        route.operation
        for route in ROUTES
        for one in route.document["parameters"]
        if one["in"] == "path" and one["schema"].get("format") == "uuid"
    }
    assert by_id <= NAMING


def test_the_document_lists_every_route_that_answers() -> None:
    mounted = {
        "/api/v1/" + pattern.pattern._route.replace("<path:", "<").replace("<", "{").replace(">", "}")
        for pattern in api.urls[0]
        if isinstance(pattern, URLPattern)
    }
    listed = {PREFIX + route.path for route in ROUTES}
    assert mounted - listed == {"/api/v1/", "/api/v1/openapi.json", "/api/v1/docs"}
    assert listed <= mounted


def seq_of(answer: dict[str, Any]) -> Any:
    """The entry that an answer rests on. A document of the peer's tells it beside what is the peer's."""
    return answer.get("audit", answer).get("seq")


@every_route
def test_the_example_succeeds_and_says_what_was_read_or_written(trial: Trial) -> None:
    before = Entry.objects.filter(namespace=trial.stage.namespace).count()
    response = trial.send()
    assert response.status_code == trial.example.status, response.content
    answer = told(response)
    after = Entry.objects.filter(namespace=trial.stage.namespace).count()
    assert after == before + trial.route.is_write
    assert isinstance(seq_of(answer), int)
    if trial.route.is_write:
        assert answer["seq"] == after
        assert answer["url"].startswith("/")
        assert answer["url"].endswith("?ns=lab")
        assert answer["replayed"] is False


@every_route
def test_without_credentials_nothing_is_told(trial: Trial) -> None:
    before = written()
    nobody = Caller("lab")
    for answer in (
        trial.send(nobody),
        trial.send(Caller("nowhere")),
        trial.send(nobody, headers={"Authorization": "Basic eA=="}),
    ):
        assert refused(answer, 401, "unauthorized")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    code = (403, "forbidden") if trial.route.is_for_people else (401, "unauthorized")
    assert refused(trial.send(Caller("lab", token="plm_unknown")), *code)
    assert written() == before


@every_route
def test_a_token_is_refused_where_it_lacks_the_power(trial: Trial) -> None:
    weak = trial.stage.agent("weak", scopes=("control",))
    strong = trial.stage.agent("strong", scopes=("read", "write", "control"))
    before = written()
    assert refused(trial.send(caller(trial.stage, weak)), 403, "forbidden")
    if trial.route.is_for_people:
        assert refused(trial.send(caller(trial.stage, strong)), 403, "forbidden")
        assert refused(trial.send(caller(trial.stage, strong), path="/nothing"), 404, "not_found")
    assert written() == before


@every_route
def test_a_person_is_refused_where_the_role_lacks_the_power(trial: Trial) -> None:
    before = written()
    for person in (trial.stage.alice, trial.stage.bob, trial.stage.charlie):
        if not person.may(*trial.route.needs):  # type: ignore[arg-type]
            assert refused(trial.send(caller(trial.stage, person)), 403, "forbidden")
    assert written() == before


@every_route
def test_another_namespace_is_not_found_whether_it_exists_or_not(trial: Trial, elsewhere: Stage) -> None:
    stranger = elsewhere.person("eve", role="owner")
    before = written()
    answers = []
    for name in ("elsewhere", "nowhere"):
        if not trial.route.is_for_people:
            answers.append((name, trial.send(Caller(name, token=trial.stage.secrets[trial.stage.scout_id]))))
    for name in ("lab", "nowhere", "%00", "Lab", "a" * 200):
        answers.append((name, trial.send(Caller(name, person=stranger.person))))
    for _, answer in answers:
        assert refused(answer, 404, "not_found")
        assert answer.json()["errors"] == []
    if len(answers) > 5:
        (one, first), (another, second) = answers[:2]
        assert first.json()["detail"].replace(one, another) == second.json()["detail"]
    assert written() == before


@pytest.mark.parametrize("route", [route for route in ROUTES if route.operation in NAMING], ids=name_of)
def test_what_is_in_another_namespace_is_not_found_here(trial: Trial, elsewhere: Stage) -> None:
    theirs = EXAMPLES[trial.route.operation](elsewhere)
    before = written()
    body = NOTHING if theirs.body is None else theirs.body
    answer = trial.send(path=theirs.path, body=body, query=theirs.query)
    assert refused(answer, 404, "not_found"), answer.content
    assert written() == before


@pytest.mark.parametrize("route", [route for route in ROUTES if route.method != "GET"], ids=name_of)
def test_a_session_alone_is_no_consent(trial: Trial) -> None:
    person = trial.by if trial.by.person is not None else trial.stage.alice
    before = written()
    assert refused(trial.send(caller(trial.stage, person, checks_csrf=True)), 403, "forbidden")
    assert written() == before
    guarded = caller(trial.stage, person, checks_csrf=True)
    guarded.client.cookies["csrftoken"] = CSRF_TOKEN
    assert refused(trial.send(guarded, headers={"X-CSRFToken": "d" * 32}), 403, "forbidden")
    assert trial.send(guarded, headers={"X-CSRFToken": CSRF_TOKEN}).status_code == trial.example.status


@on_one_engine
@every_route
def test_an_unknown_parameter_is_named(trial: Trial) -> None:
    before = written()
    answer = trial.send(query={**trial.example.query, "bogus": "1"})
    assert refused(answer, 422, "invalid")
    assert places(answer) == [["bogus"]]
    assert written() == before


@on_one_engine
@every_route
def test_a_parameter_out_of_bounds_is_named(trial: Trial) -> None:
    before = written()
    for name, schema in trial.route.query.items():
        kind = resolved(schema).get("type")
        wrong: list[Any] = ["a\0b"]
        wrong += [*HUGE, "1e3", "x"] if kind == "integer" else []
        wrong += ["x" * 5_000] if kind == "string" else []
        for value in wrong:
            answer = trial.send(query={**trial.example.query, name: value})
            assert refused(answer, 422, "invalid"), (name, value, answer.content)
            assert [place[0] for place in places(answer)] == [name], (name, value)
    assert written() == before


@on_one_engine
@every_route
def test_an_id_in_the_address_must_be_one(trial: Trial) -> None:
    before = written()
    for parameter in trial.route.document["parameters"]:
        if parameter["in"] != "path":
            continue
        kind = parameter["schema"].get("format") or parameter["schema"]["type"]
        wrong = {"uuid": ["x", "12", "%00", "a" * 300], "integer": ["x", "0", "-1", str(10**30)], "string": ["a" * 600]}
        template = trial.route.path.split("/")
        index = template.index(f"{{{parameter['name']}}}")
        for value in wrong[kind]:
            steps = trial.example.path.split("/")
            steps[index] = value
            answer = trial.send(path="/".join(steps))
            assert refused(answer, 422, "invalid"), (value, answer.content)
            assert [parameter["name"]] in places(answer)
    assert written() == before


MALFORMED = (
    b"{",
    b" ",
    b"nothing",
    b'{"a" 1}',
    b"\xff\xfe",
    b"[1,",
    b'{"a": 1} x',
    b"'a'",
    b"{a: 1}",
    b"\xef\xbb\xbf{}",
)


@on_one_engine
@every_body
def test_a_body_that_is_no_json_is_malformed(trial: Trial) -> None:
    before = written()
    for body in MALFORMED:
        answer = trial.send(body=body)
        assert refused(answer, 400, "malformed"), body
        assert places(answer) == [[]]
    for body in ([], "text", 1, True, {"bogus": 1}):
        assert refused(trial.send(body=body), 422, "invalid"), body
    if trial.route.document["requestBody"]["required"]:
        assert refused(trial.send(body=None), 422, "invalid")
        assert refused(trial.send(body=NOTHING), 422, "invalid")
    assert written() == before


@on_one_engine
@every_body
def test_another_kind_of_body_is_refused_by_its_name(trial: Trial) -> None:
    before = written()
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "application/json; charset=utf-16",
    ):
        answer = trial.send(body=json.dumps(trial.example.body).encode(), content_type=kind)
        assert refused(answer, 422, "invalid"), (kind, answer.content)
        assert places(answer) == [["Content-Type"]]
    answer = trial.send(body=b"just some text", content_type="text/plain")
    assert "/records" in answer.json()["detail"]
    assert written() == before


@on_one_engine
@every_body
def test_a_body_over_the_limit_is_too_large(trial: Trial, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    before = written()
    assert refused(trial.send(body=b'{"a": "' + b"x" * 1_000 + b'"}'), 413, "too_large")
    assert written() == before


PEER_DOCUMENTS = frozenset(
    {
        "beliefs_observe", "beliefs_observe_batch", "beliefs_query", "beliefs_decision_of", "calibration_record",
        "calibration_record_batch", "calibration_label", "calibration_label_batch",
    }
)  # fmt: skip


def spellings(trial: Trial) -> Iterator[tuple[str, bytes, list[str | int]]]:
    """(code, body, place) of JSON that no schema can see: what is refused while it is read."""
    whole = json.dumps(trial.with_(("bogus",), "MARK"))
    at = [*trial.prefix, "bogus"]
    for code, text in (
        ("nul", r'"a\u0000b"'),
        ("lone_surrogate", r'"a\ud800b"'),
        ("non_finite", "NaN"),
        ("non_finite", "-Infinity"),
        ("out_of_range", "1e999"),
        ("out_of_range", "123456789012345678901234567890"),
    ):
        yield code, whole.replace('"MARK"', text).encode(), at
    yield "duplicate_key", whole.replace('"bogus": "MARK"', '"bogus": 1, "bogus": 2').encode(), at
    yield "duplicate_key", whole.replace('"MARK"', '{"x": 1, "x": 2}').encode(), [*at, "x"]


@on_one_engine
@every_body
def test_what_json_cannot_say_safely_is_named_in_its_place(trial: Trial) -> None:
    before = written()
    for code, body, at in spellings(trial):
        answer = trial.send(body=body)
        assert refused(answer, 422, "invalid"), (code, answer.content)
        # Clients of the peer send integers of any width; there the field is refused, not its value.
        is_wide = code == "out_of_range" and b"e999" not in body
        expected = "unknown" if is_wide and trial.route.operation in PEER_DOCUMENTS else code
        assert [(error["loc"], error["code"]) for error in answer.json()["errors"]] == [(at, expected)]
    for depth in (40, 100_000):
        nested = json.dumps(trial.with_(("bogus",), "MARK")).replace('"MARK"', "[" * depth + "]" * depth)
        answer = trial.send(body=nested.encode())
        assert refused(answer, 422, "invalid"), answer.content
        assert [error["code"] for error in answer.json()["errors"]] == ["too_deep"]
    assert written() == before


@on_one_engine
@every_body
def test_an_unknown_field_is_named_at_every_level(trial: Trial) -> None:
    before = written()
    parents = {(), *(place[:-1] for place, _ in leaves(trial.schema))}
    for parent in sorted(parents, key=repr):
        if any(isinstance(step, int) for step in parent[-1:]) or _is_free(trial.schema, parent):
            continue
        at = (*parent, "bogus")
        answer = trial.send(body=trial.with_(at, 1))
        assert refused(answer, 422, "invalid"), (at, answer.content)
        assert [*trial.prefix, *at] in places(answer), (at, answer.content)
    assert written() == before


def _is_free(schema: Any, at: tuple[str | int, ...]) -> bool:
    """A place that takes lists, or keys of the client's own choice."""
    found = resolved(schema)
    for step in at:
        found = resolved(found.get("properties", {}).get(step, {}) if isinstance(step, str) else found.get("items", {}))
    return found.get("type") == "array"


@on_one_engine
@every_body
def test_a_value_of_another_kind_is_named(trial: Trial) -> None:
    before = written()
    for at, schema in leaves(trial.schema):
        wrong: list[Any] = [{}, []]
        if not _takes_numbers(schema):
            wrong += [*HUGE, 1.5, "1"] if schema.get("type") == "integer" else [1]
        if "maxLength" in schema:
            wrong.append("x" * (schema["maxLength"] + 1))
        for value in wrong:
            answer = trial.send(body=trial.with_(at, value))
            assert answer.status_code in (413, 422), (at, value, answer.content)
            assert [*trial.prefix, *at] in [place[: len(at) + len(trial.prefix)] for place in places(answer)], (
                at,
                value,
                answer.content,
            )
    assert written() == before


def _takes_numbers(schema: Any) -> bool:
    """A number, or a value of several kinds with a number among them."""
    kinds = [resolved(each).get("type") for each in (schema, *resolved(schema).get("anyOf", ()))]
    return "number" in kinds


@on_one_engine
@every_body
def test_a_missing_field_is_named(trial: Trial) -> None:
    before = written()
    for name in trial.schema.get("required", ()):
        whole = trial.example.body
        item = {key: value for key, value in (whole[0] if trial.prefix else whole).items() if key != name}
        answer = trial.send(body=[item, *whole[1:]] if trial.prefix else item)
        assert refused(answer, 422, "invalid")
        assert [*trial.prefix, name] in places(answer)
    assert written() == before


@on_one_engine
@every_route
def test_another_method_is_answered_with_those_that_are_known(trial: Trial) -> None:
    answer = trial.send()
    for method in ("DELETE", "PATCH", "TRACE", "OPTIONS"):
        answer = caller(trial.stage, trial.by).call(method, trial.example.path)
        assert refused(answer, 405, "method_not_allowed")
        assert trial.route.method in answer.headers["Allow"].split(", ")


@pytest.mark.parametrize("route", [route for route in ROUTES if route.method == "GET"], ids=name_of)
def test_head_is_answered_as_get_without_the_body(trial: Trial) -> None:
    by = caller(trial.stage, trial.by)
    whole = by.call("GET", trial.example.path, query=trial.example.query)
    head = by.call("HEAD", trial.example.path, query=trial.example.query)
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(whole.content)


@pytest.mark.parametrize("route", [route for route in ROUTES if not route.is_write], ids=name_of)
def test_a_read_writes_nothing_and_takes_no_header_of_the_loader(trial: Trial) -> None:
    before = written()
    assert trial.send().status_code == 200
    for name in ("Palimpsest-Actor", "Palimpsest-Event-At"):
        answer = trial.send(headers={name: "agent:scout"})
        assert refused(answer, 422, "invalid")
        assert places(answer) == [[name]]
    assert written() == before


@pytest.mark.parametrize("route", [route for route in ROUTES if "known_at" in route.query], ids=name_of)
def test_a_read_of_a_past_point_says_which(trial: Trial) -> None:
    head = Entry.objects.filter(namespace=trial.stage.namespace).count()
    query = {**trial.example.query, "known_at": f"seq:{head}"}
    first = trial.send(query=query)
    trial.stage.save("written afterwards")
    second = trial.send(query=query)
    assert first.status_code == 200
    if trial.route.operation != "ledger_proof":
        assert seq_of(told(first)) == head
    if trial.route.operation not in ("records_recall", "ledger_entry"):
        assert first.content == second.content
    for wrong in (f"seq:{head + 10}", "yesterday", "source:x", "seq:-1"):
        answer = trial.send(query={**query, "known_at": wrong})
        assert refused(answer, 422, "invalid"), answer.content
        assert places(answer) == [["known_at"]]
    future = trial.send(query={**query, "known_at": "2099-01-01T00:00:00Z"})
    assert future.json().get("provisional", True) is True
