"""The ASGI application: every request goes to Django's WSGI application through a2wsgi.

Invariants
- Pages and API are synchronous code and run on threads; this module adds no second way to answer them.
- Some servers hand over a `receive` and a `send` that answer awaitables which are not coroutines, while a2wsgi makes tasks
  of them; both are therefore wrapped in coroutines.

Source: the ASGI specification, sections HTTP and Lifespan.
"""

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from a2wsgi import WSGIMiddleware
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "audit.settings")

type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]

N_THREADS = 4

_pages = WSGIMiddleware(get_wsgi_application(), workers=N_THREADS)


async def application(scope: Message, receive: Receive, send: Send) -> None:
    async def receive_message() -> Message:
        return await receive()

    async def send_message(message: Message) -> None:
        await send(message)

    await _pages(scope, receive_message, send_message)
