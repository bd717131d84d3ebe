"""The ASGI application: every request goes to Django's WSGI application through a2wsgi.

Invariants
- Pages and API are synchronous code and run on threads; this module adds no second way to answer them.
- Some servers hand over a `receive` and a `send` whose awaitables are no coroutines, while a2wsgi makes tasks of them:
  both are therefore wrapped in coroutines.

Source: the ASGI specification, sections HTTP and Lifespan.
"""

import os
from typing import cast

from a2wsgi import WSGIMiddleware
from a2wsgi.asgi_typing import Receive, ReceiveEvent, Scope, Send, SendEvent
from a2wsgi.wsgi_typing import WSGIApp
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "audit.settings")

N_THREADS = 4

_pages = WSGIMiddleware(cast(WSGIApp, get_wsgi_application()), workers=N_THREADS)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    async def receive_message() -> ReceiveEvent:
        return await receive()

    async def send_message(message: SendEvent) -> None:
        await send(message)

    await _pages(scope, receive_message, send_message)
