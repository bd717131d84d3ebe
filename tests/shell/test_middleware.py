"""What every request passes through."""

import json
import logging
from uuid import UUID, uuid4

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from audit.logs import JsonFormatter, current_request_id

pytestmark = pytest.mark.urls("tests.shell.urls")


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    formatter = JsonFormatter(shows_exception_text=False)
    return [json.loads(formatter.format(record)) for record in caplog.records if record.name == "audit.access"]


def test_a_request_id_that_is_a_uuid_is_kept(client: Client) -> None:
    offered = uuid4()
    for text in (str(offered), offered.hex):
        assert client.get("/healthz", headers={"X-Request-ID": text}).headers["X-Request-ID"] == str(offered)


@pytest.mark.parametrize("offered", ["", "abc", "a\tb", "0" * 31, "ü" * 8, "<script>", "1" * 5000])
def test_any_other_request_id_is_replaced(client: Client, offered: str) -> None:
    answered = client.get("/healthz", headers={"X-Request-ID": offered}).headers["X-Request-ID"]
    assert answered != offered
    assert UUID(answered).version == 4


def test_two_requests_get_two_ids_and_leave_none_behind(client: Client) -> None:
    ids = {client.get("/healthz").headers["X-Request-ID"] for _ in range(2)}
    assert len(ids) == 2
    assert current_request_id.get() == ""


def test_a_request_leaves_one_line_without_its_query(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="audit.access"):
        client.post("/api/v1/echo?token=hidden", b"private", content_type="text/plain")
    (line,) = lines(caplog)
    assert (line["method"], line["path"], line["status"], line["level"]) == ("POST", "/api/v1/echo", 200, "info")
    assert isinstance(line["duration_ms"], float)
    assert "hidden" not in json.dumps(line)
    assert "private" not in json.dumps(line)


def test_the_token_of_a_one_time_link_is_never_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="audit.access"):
        client.get("/sign-in/MQ/secret-token/")
    (line,) = lines(caplog)
    assert line["path"] == "/sign-in/…"
    assert "secret-token" not in json.dumps(line)


def test_a_probe_is_logged_only_when_it_fails(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="audit.access"):
        client.get("/healthz")
        assert lines(caplog) == []
        client.post("/healthz")
    assert [line["status"] for line in lines(caplog)] == [405]


@pytest.mark.parametrize("secure", [False, True])
def test_a_cookie_is_secure_exactly_when_it_was_set_over_https(client: Client, secure: bool) -> None:
    response = client.post("/echo", b"", content_type="text/plain", secure=secure)
    assert bool(response.cookies["echo"]["secure"]) is secure


@pytest.mark.parametrize("address", ["/healthz", "/nowhere", "/echo"])
@pytest.mark.django_db
def test_every_answer_carries_the_strict_policy(client: Client, address: str) -> None:
    headers = client.get(address).headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"


def test_static_files_are_served_without_a_collecting_step(client: Client, settings: Settings) -> None:
    # All are looked for when the server starts, as in production.
    settings.WHITENOISE_AUTOREFRESH = False
    response = client.get("/static/favicon.svg")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "image/svg+xml")
    assert b"".join(response).startswith(b"<svg")  # type: ignore[arg-type]


def test_the_id_is_on_the_request_that_a_view_gets(client: Client) -> None:
    seen: list[object] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.request_id)  # type: ignore[attr-defined]
        return HttpResponse()

    from django.test import RequestFactory

    from audit.middleware import request_identity

    offered = uuid4()
    request_identity(view)(RequestFactory().get("/", headers={"X-Request-ID": str(offered)}))
    assert seen == [offered]
