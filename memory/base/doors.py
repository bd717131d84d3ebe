"""How a route of the API is declared, and what stands in front of every one.

Invariants
- A route says what it needs, what it answers and by which codes it refuses; the OpenAPI document comes from that alone.
- Before anything of a request is read: who it is, whether they may, and that no parameter is unknown.
- Whoever fails the first learns nothing of the rest.

Who a request is, is told by `memory.api`, which registers it here: base imports no slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.http import HttpRequest
from ninja import Router
from ninja.operation import Operation
from ninja.responses import Status
from pydantic import BaseModel

from memory.base.actor import Actor, RunGiven
from memory.base.bodies import JSON
from memory.base.errors import CODES, Invalid, Place
from memory.base.gate import READ, Requirement
from memory.base.schemas import Problem, RunIn
from memory.base.text import fault

View = TypeVar("View", bound=Callable[..., Any])

ALWAYS = ("unauthorized", "forbidden", "not_found", "invalid", "unavailable")
WITH_BODY = ("malformed", "too_large")
# An Idempotency-Key may be refused by any write.
WRITES = ("idempotency_mismatch", "erased", "conflict")
BY_AGENTS = ("stopped",)


class Entered(HttpRequest):
    """A request that has passed its door; for annotations only."""

    auth: Actor


Admission = Callable[[HttpRequest, "Door"], Actor]
_admissions: list[Admission] = []
# The name of a route: why what it shows takes no change, for whoever tries one.
_append_only: dict[str, Place] = {}


def admit_by(admission: Admission) -> None:
    """Register who tells a request's actor. It raises Unauthorized, NotFound, Forbidden, Invalid (a header)."""
    _admissions[:] = [admission]


@dataclass(slots=True)
class Door:
    """What stands in front of one route. `parameters` are the names of the query that it knows, `media` its bodies."""

    need: Requirement
    is_write: bool
    codes: tuple[str, ...]
    takes_match: bool = False
    parameters: frozenset[str] = field(default=frozenset())
    media: tuple[str, ...] = (JSON,)

    def __call__(self, request: HttpRequest) -> Actor:
        (admission,) = _admissions
        by = admission(request, self)
        self._require_known(request)
        return by

    def _require_known(self, request: HttpRequest) -> None:
        for name, values in request.GET.lists():
            shown = name[:60].replace("\0", "␀")
            if name not in self.parameters:
                known = ", ".join(sorted(self.parameters)) or "none"
                place = Place((shown,), "unknown", f"one of these parameters: {known}", shown)
                raise Invalid(f"{shown}: unknown parameter; this address takes {known}.", errors=(place,))
            for value in values:
                if problem := fault(value):
                    raise Invalid.at(name, expected="text without NUL and lone surrogates", got=problem, code="nul")


class Routes:
    """The routes of one slice, declared one by one. `router` is mounted by `memory.api`."""

    def __init__(self, slice_name: str) -> None:
        self.name = slice_name
        self.router = Router(tags=[slice_name])

    def read(
        self, path: str, *, answer: type[BaseModel], codes: Sequence[str] = (), method: str = "GET",
        extra: dict[str, Any] | None = None,
    ) -> Callable[[View], View]:  # fmt: skip
        """A route that changes nothing; `method` is POST where the question is too long for an address."""
        door = Door(READ, is_write=False, codes=tuple(codes))
        return self._declared(method, path, door, {200: answer}, extra)

    def write(
        self, path: str, *, need: Requirement, answer: type[BaseModel], codes: Sequence[str] = (), method: str = "POST",
        makes: bool = False, takes_match: bool = False, extra: dict[str, Any] | None = None,
    ) -> Callable[[View], View]:  # fmt: skip
        """A route that appends an entry. `makes`: it answers 201 when it made something, 200 when that stood before."""
        door = Door(need, is_write=True, codes=tuple(codes), takes_match=takes_match)
        return self._declared(method, path, door, {201: answer, 200: answer} if makes else {200: answer}, extra)

    def append_only(self, view: str, *, code: str, expected: str) -> None:
        """Say why no method changes what the route of that view shows; `code` is the word of the place."""
        _append_only[f"{self.name}_{view}"] = Place((view,), code, expected)

    def _declared(
        self, method: str, path: str, door: Door, answers: dict[int, type[BaseModel]], extra: dict[str, Any] | None
    ) -> Callable[[View], View]:
        def declare(view: View) -> View:
            responses: dict[int, type[BaseModel]] = {**answers, **dict.fromkeys(_statuses(ALWAYS), Problem)}
            register = self.router.api_operation(
                [method], path, auth=door, response=responses, operation_id=f"{self.name}_{view.__name__}",
                url_name=f"{self.name}_{view.__name__}", summary=_summary(view), openapi_extra={**(extra or {})},
                by_alias=True,
            )  # fmt: skip
            register(view)
            operation: Operation = vars(view)["_ninja_operation"]
            _complete(operation, door, tuple((extra or {}).get("requestBody", {}).get("content", {})))
            return view

        return declare


def _complete(operation: Operation, door: Door, media: tuple[str, ...]) -> None:
    """Work out from the signature what the door must know, and declare every status of its codes.

    `media` are the types of a body that the route reads by itself.
    """
    sources = {model.__ninja_param_source__: model for model in operation.models}
    if query := sources.get("query"):
        door.parameters = frozenset(query.__ninja_flatten_map__)
    door.media = media or door.media
    codes = [*ALWAYS, *door.codes]
    if media or "body" in sources:
        codes += WITH_BODY
    if door.is_write:
        codes += [*WRITES, *(() if door.need.by_person else BY_AGENTS)]
    door.codes = tuple(code for code in CODES if code in codes)
    model = operation.response_models[CODES["invalid"].status]
    operation.response_models.update(dict.fromkeys(_statuses(door.codes), model))


def _statuses(codes: Sequence[str]) -> list[int]:
    return sorted({CODES[code].status for code in codes})


def _summary(view: Callable[..., Any]) -> str:
    """The first line of the docstring."""
    return (view.__doc__ or view.__name__).strip().split("\n")[0]


def made[Answer: BaseModel](answer: Answer, *, is_new: bool) -> Status[Answer]:
    """201 for what was made by this request, 200 for what stood before it."""
    return Status(201 if is_new else 200, answer)


def page(request: HttpRequest, path: str) -> str:
    """The address of a page of the console, in the namespace of the request."""
    return f"{path}?ns={namespace(request)}"


def unchangeable(request: HttpRequest) -> tuple[Place, ...]:
    """Why what stands at the address takes no change; nothing where no route says so."""
    match = request.resolver_match
    place = _append_only.get(match.url_name or "") if match is not None else None
    return () if place is None or request.method not in ("PUT", "PATCH", "DELETE") else (place,)


def namespace(request: HttpRequest) -> str:
    """The name of the namespace in the address."""
    match = request.resolver_match
    return str(match.kwargs["ns"]) if match is not None else ""


def actor(request: Entered, run: RunIn | None = None) -> Actor:
    """The actor of the request, with the run that its body names.   Raises Invalid (header and body disagree)."""
    return replace(request.auth, run=_joined(request.auth.run, run))


def _joined(by_header: RunGiven | None, by_body: RunIn | None) -> RunGiven | None:
    """One run of what headers and body say. A trace finds or opens a run only where none is named by its id."""
    if by_body is None or by_header is None:
        return by_body.given() if by_body is not None else by_header
    given = by_body.given()
    if by_header.id is not None:
        if given.id not in (None, by_header.id):
            raise Invalid.at("run", "id", expected=f"the run of the header, {by_header.id}", got=given.id)
        return replace(given, id=by_header.id)
    if given.id is not None:
        return given
    refs = {**dict(by_header.refs), **dict(given.refs)}
    kind = by_body.kind or by_header.kind
    return replace(given, kind=kind, refs=tuple(sorted(refs.items())))
