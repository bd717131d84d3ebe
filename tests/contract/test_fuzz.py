"""Requests made from the document alone: whatever they ask, the answer is one that the document declares.

Each route gets values that its schema admits and values that it does not; ids are those of things that stand, as often
as not, so that the requests reach the operations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection
from django.test import Client
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from tests.contract.callers import CSRF_TOKEN
from tests.contract.routes import routes
from tests.contract.stage import EXAMPLES, Stage

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# PostgreSQL is asked the first of the same requests: what differs there is a value that a column refuses. Kinds, bounds
# and codes of every route are held one by one in test_every_route and test_document too: CI draws fewer.
N_EXAMPLES = 12 if "CI" in os.environ else 20
if os.environ.get("HYPOTHESIS_PROFILE") == "quick" or connection.vendor == "postgresql":
    N_EXAMPLES //= 2
RULES = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
# Values at every bound are tried by test_every_route, which also says where they must be named.
schema.config.phases.coverage.enabled = False
ROUTES = {route.operation: route for route in routes()}


@contextmanager
def kept_connection() -> Iterator[None]:
    """Requests share the transaction of the test, as those of Django's own client do."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


@schemathesis.serializer("application/x-ndjson")
def as_lines(_context: schemathesis.SerializationContext, value: Any) -> bytes:
    """The document can only say that it is text."""
    return str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def session_cookies(stage: Stage) -> dict[str, str]:
    """Those of the owner: one session for all requests."""
    client = Client()
    client.force_login(User.objects.get(pk=stage.alice.person))
    jar: SimpleCookie = client.cookies
    return {name: morsel.value for name, morsel in jar.items()} | {"csrftoken": CSRF_TOKEN}


def aimed(parameters: Mapping[str, Any], stage: Stage) -> dict[str, Any]:
    """The parameters of the address, every other id replaced by that of a thing that stands."""
    standing = {
        "record": stage.first.id,
        "run": stage.run,
        "agent": stage.helper,
        "token": stage.token,
        "check": stage.check,
        "tombstone": stage.dead_end,
    }
    given = {**parameters, "ns": stage.name}
    for name, about in standing.items():
        try:
            if name in given and UUID(str(given[name])).int % 2:
                given[name] = str(about)
        except ValueError:
            continue
    return given


@schema.parametrize()
@settings(
    max_examples=N_EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_document_declares(
    case: schemathesis.Case, stage: Stage, session_cookies: dict[str, str]
) -> None:
    route = ROUTES[case.operation.definition.raw["operationId"]]
    case.path_parameters = aimed(case.path_parameters or {}, stage)
    with kept_connection():
        if route.is_for_people:
            answer = case.call(headers={"X-CSRFToken": CSRF_TOKEN}, cookies=session_cookies)
        else:
            answer = case.call(headers={"Authorization": f"Bearer {stage.secrets[stage.scout_id]}"})
    case.validate_response(answer, checks=RULES)
    # What one request declares of an attribute, another one of the same agent may not change.
    declared = route.operation == "facts_declare" and "only an owner" in answer.text
    assert declared or answer.status_code not in (401, 403), (route.operation, answer.text)


def test_the_requests_reach_every_route() -> None:
    found = {operation.ok().definition.raw["operationId"] for operation in schema.get_all_operations()}
    assert found == ROUTES.keys() == EXAMPLES.keys()
