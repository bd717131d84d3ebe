"""What a caller sees when no view answers, and what the log keeps of it."""

import json
import logging
from uuid import UUID

import pytest
from django.test import Client

from audit.logs import JsonFormatter
from tests.shell.urls import SECRET_TEXT

pytestmark = pytest.mark.urls("tests.shell.urls")

CASES = [("broken", 500, "internal"), ("denied", 403, "forbidden"), ("nowhere", 404, "not_found")]


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize(("name", "status", "code"), CASES)
def test_under_api_an_error_is_a_problem_document(client: Client, name: str, status: int, code: str) -> None:
    response = client.get(f"/api/v1/{name}")
    problem = response.json()
    assert response.status_code == problem["status"] == status
    assert response.headers["Content-Type"] == "application/problem+json"
    assert problem["code"] == code
    assert problem["errors"] == []
    assert problem["request_id"] == response.headers["X-Request-ID"]
    assert SECRET_TEXT not in response.text


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "status", "code"), CASES)
def test_elsewhere_an_error_is_a_page_with_the_same_status(client: Client, name: str, status: int, code: str) -> None:
    response = client.get(f"/{name}")
    assert response.status_code == status
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["X-Request-ID"] in response.text
    assert SECRET_TEXT not in response.text


def test_a_page_that_fails_itself_falls_back_to_plain_text(client: Client, settings: pytest.FixtureRequest) -> None:
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": []}]
    response = client.get("/broken")
    assert response.status_code == 500
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.text.startswith("Internal error\n")


def test_a_form_without_its_token_is_refused_in_both_forms() -> None:
    client = Client(enforce_csrf_checks=True)
    for address in ("/guarded", "/api/v1/guarded"):
        assert client.post(address, {"a": "b"}).status_code == 403
    assert client.post("/api/v1/guarded", {"a": "b"}).json()["code"] == "forbidden"


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/busy", "/api/v1/busy"])
def test_a_busy_store_is_answered_503_with_the_time_to_wait(client: Client, address: str) -> None:
    response = client.get(address)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert "unavailable" in response.text
    assert "locked" not in response.text


def test_a_body_over_the_limit_is_answered_413(client: Client, settings: pytest.FixtureRequest) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    response = client.post("/api/v1/echo", b"x" * 11, content_type="application/octet-stream")
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_an_unknown_host_is_told_which_variable_lists_the_hosts(client: Client) -> None:
    response = client.get("/api/v1/nowhere", headers={"Host": "elsewhere.example"})
    assert response.status_code == 422
    assert "PALIMPSEST_HOSTS" in response.json()["detail"]


def test_the_log_names_type_place_and_request_of_a_failure_and_not_its_text(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        response = client.get("/api/v1/broken", {"q": SECRET_TEXT})
    (record,) = [record for record in caplog.records if record.getMessage() == "request failed"]
    line = json.loads(JsonFormatter(shows_exception_text=False).format(record))
    assert [error["type"] for error in line["exceptions"]] == ["builtins.RuntimeError", "builtins.ValueError"]
    assert any("tests/shell/urls.py" in frame for frame in line["exceptions"][0]["stack"])
    assert line["path"] == "/api/v1/broken"
    assert UUID(response.json()["request_id"])
    for each in caplog.records:
        assert SECRET_TEXT not in JsonFormatter(shows_exception_text=False).format(each)
    assert SECRET_TEXT in JsonFormatter(shows_exception_text=True).format(record)
