"""Whoever calls the API in tests: an agent by its token, a person by a session, or nobody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from memory.base.actor import Actor
from tests.world import World

JSON = "application/json"
# Any one will do that comes both as a cookie and with the request. That a page hands it out is told in test_document.
CSRF_TOKEN = "c" * 32
NOTHING = object()


class Caller:
    """Calls routes of one namespace. A body is JSON unless it is bytes."""

    def __init__(
        self, namespace: str, *, token: str = "", person: int | None = None, checks_csrf: bool = False
    ) -> None:
        self.namespace = namespace
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = Client(enforce_csrf_checks=checks_csrf, raise_request_exception=False, headers=headers)
        if person is not None:
            self.client.force_login(User.objects.get(pk=person))

    def call(
        self, method: str, path: str, body: Any = NOTHING, *, query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None, content_type: str | None = JSON,
    ) -> HttpResponse:  # fmt: skip
        """One request. `path` begins after the namespace; without a body there is no content type either."""
        sent: dict[str, Any] = {"headers": dict(headers or {})}
        address = f"/api/v1/namespaces/{self.namespace}{path}"
        if query:
            address += f"?{urlencode(query, doseq=True)}"
        if body is not NOTHING:
            sent["data"] = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent["content_type"] = content_type or ""
        return self.client.generic(method, address, **{"content_type": "", **sent})

    def get(self, path: str, **query: Any) -> HttpResponse:
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = NOTHING, **more: Any) -> HttpResponse:
        return self.call("POST", path, body, **more)

    def put(self, path: str, body: Any = NOTHING, **more: Any) -> HttpResponse:
        return self.call("PUT", path, body, **more)


def caller(world: World, who: Actor | None, *, checks_csrf: bool = False) -> Caller:
    """How that actor reaches the API; None is nobody."""
    if who is None:
        return Caller(world.name)
    if who.agent is not None:
        return Caller(world.name, token=world.secrets[who.agent])
    return Caller(world.name, person=who.person, checks_csrf=checks_csrf)


def places(response: HttpResponse) -> list[list[str | int]]:
    """The places that a refusal names."""
    return [error["loc"] for error in response.json()["errors"]]
