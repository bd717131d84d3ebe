"""The OpenAPI document and the page that shows it."""

from __future__ import annotations

import json
import re
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from pydantic import BaseModel

from memory.base.errors import CODES
from tests.contract.callers import CSRF_TOKEN
from tests.contract.document import KEPT, spelled
from tests.contract.routes import routes
from tests.contract.stage import Stage

ROUTES = routes()
# What api names promise; a name that goes breaks clients.
PROMISED = {
    "GET /ledger/checkpoint", "GET /ledger/entries", "GET /ledger/entries/{seq}", "GET /ledger/proof",
    "GET /ledger/consistency", "POST /ledger/verify", "POST /erasures", "PUT /hold", "GET /runs", "GET /runs/{run}",
    "POST /runs", "POST /runs/{run}/end", "GET /agents", "POST /agents", "POST /agents/{agent}/tokens",
    "POST /tokens/{token}/rotate", "POST /tokens/{token}/revoke", "POST /agents/{agent}/freeze",
    "POST /agents/{agent}/unfreeze", "POST /members", "PUT /settings/{name}", "POST /records", "POST /records/batch",
    "GET /records", "GET /records/{record}", "GET /records/resolve", "POST /recall", "POST /records/{record}/withdraw",
    "POST /records/{record}/restore", "POST /derivations", "POST /edges", "GET /records/{record}/ancestry",
    "GET /records/{record}/descendants", "GET /records/{record}/timeline", "GET /lineage", "GET /checks",
    "GET /checks/{check}", "POST /checks/{name}/run", "POST /laws/{clause}/waive",
}  # fmt: skip
# A file comes in or goes out, and may be too large; no body of theirs is JSON.
WITHOUT_JSON_BODY = {"interchange_start", "interchange_restore", "interchange_export"}
PEOPLE = {
    "ledger_erase", "agents_hold", "agents_create_agent", "agents_issue_token", "agents_rotate_token",
    "agents_revoke_token", "agents_freeze", "agents_unfreeze", "agents_admit_member", "agents_change_setting",
    "records_restore", "records_confirm", "records_reject", "records_review", "checks_run", "checks_waive",
    "interchange_start", "interchange_restore", "facts_verdict", "tombstones_revive", "tombstones_retest",
    "tombstones_retire", "tombstones_keep", "calibration_acknowledge", "calibration_close",
}  # fmt: skip


def test_the_document_is_the_one_that_was_kept() -> None:
    assert spelled() == KEPT.read_text(), "look at the difference, then: python -m tests.contract.document"


def test_no_two_schemas_share_a_name() -> None:
    """A document holds one schema of a name: the later would stand for both."""
    named: dict[str, set[str]] = {}
    for module in list(sys.modules.values()):
        if re.fullmatch(r"memory\..+\.schemas", getattr(module, "__name__", "")):
            for name, value in vars(module).items():
                if isinstance(value, type) and issubclass(value, BaseModel) and value.__name__ == name:
                    named.setdefault(name, set()).add(value.__module__)
    assert len(named) > 100
    assert {name: modules for name, modules in named.items() if len(modules) > 1} == {}


def test_the_api_answers_the_document() -> None:
    answer = Client().get("/api/v1/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == json.loads(KEPT.read_text())


def test_every_promised_route_stands() -> None:
    assert {f"{route.method} {route.path}" for route in ROUTES} >= PROMISED


def test_the_acts_of_people_take_no_token() -> None:
    assert {route.operation for route in ROUTES if route.is_for_people} == PEOPLE


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_a_route_declares_the_status_of_every_code_and_no_other(route: Any) -> None:
    codes = route.document["x-codes"]
    statuses = {int(status) for status in route.document["responses"]}
    assert {status for status in statuses if status >= 400} == {CODES[code].status for code in codes}
    assert {status for status in statuses if status < 400} <= {200, 201}
    for code in codes:
        response = route.document["responses"][str(CODES[code].status)]
        assert f"{code}: {CODES[code].meaning}" in response["description"]
        assert list(response["content"]) == ["application/problem+json"]
    assert {"unauthorized", "forbidden", "not_found", "invalid"} <= set(codes)
    assert ("malformed" in codes) == ("too_large" in codes) or route.operation in WITHOUT_JSON_BODY
    assert ("stopped" in codes) == (route.is_write and not route.is_for_people)


def test_every_reference_leads_somewhere_and_every_schema_is_used() -> None:
    document = json.loads(KEPT.read_text())
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert references == document["components"]["schemas"].keys()


@pytest.mark.django_db
def test_the_page_shows_every_route_and_every_code_and_loads_nothing_from_elsewhere() -> None:
    answer = Client().get("/api/v1/docs")
    assert answer.status_code == 200
    for route in ROUTES:
        assert f'id="{route.operation}"' in answer.text
        assert route.document["summary"] in answer.text.replace("&#x27;", "'").replace("&#x60;", "`")
    for code in CODES:
        assert f"<code>{code}</code>" in answer.text
    assert re.findall(r'(?:src|href)="(?:https?:)?//', answer.text) == []
    assert "'unsafe" not in answer.headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_a_form_of_the_page_leads_to_the_route(stage: Stage) -> None:
    page = Client()
    page.get("/api/v1/docs")
    assert len(page.cookies["csrftoken"].value) == len(CSRF_TOKEN)
    asked = {"operation": "records_record", "ns": "lab", "record": "a/b", "known_at": "seq:3", "valid_at": ""}
    answer = page.get("/api/v1/docs", asked)
    assert answer.status_code == 302
    found = urlsplit(answer.headers["Location"])
    assert (found.netloc, found.path) == ("", "/api/v1/namespaces/lab/records/a%2Fb")
    assert parse_qs(found.query) == {"known_at": ["seq:3"]}
    for other in ({"operation": "records_save"}, {"operation": "none"}):
        assert page.get("/api/v1/docs", other).status_code == 200
