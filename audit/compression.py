"""Pages and drawings go out compressed: a lineage at its cap repeats the same few shapes five hundred times.

Invariants
- Answers of the API stay as they are: compression would weaken their entity tags, and clients ask for bytes that match.
- Each compressed answer has a random length beside its own, so that what is reflected in it tells no secret of it.

Source: Django, GZipMiddleware and its answer to BREACH.
"""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

API = "/api/"


class CompressedPages(GZipMiddleware):
    """Compresses what a browser shows, for a browser that says that it can read it."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path.startswith(API):
            return response
        return super().process_response(request, response)
