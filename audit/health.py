"""Probes for whatever watches the process.

Invariants
- /healthz answers 200 as long as the process serves requests; it touches no database.
- /readyz answers 200 only when every database answers and has all its migrations, else 503 with Retry-After.
"""

from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from audit.problems import RETRY_AFTER_SECONDS, problem_answer


@never_cache
@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "alive"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    faults = [fault for alias in connections if (fault := _database_fault(alias))]
    if not faults:
        return JsonResponse({"status": "ready"})
    response = problem_answer(request, code="unavailable", detail=" ".join(faults))
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _database_fault(alias: str) -> str:
    """One sentence about what is wrong with a database; empty when it serves."""
    connection = connections[alias]
    try:
        executor = MigrationExecutor(connection)
    except DatabaseError:
        return f"The database {alias!r} does not answer."
    n_missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    return f"The database {alias!r} lacks {n_missing} migrations; run `manage.py migrate`." if n_missing else ""
