"""Places of imports and tasks that may hold a copy of text, swept by every erasure in the namespace.

None of them is a record of anything: a staged row is read again from its source, an upload is sent again, and what a
job did stands in the ledger. So they go whole, and nothing in them is compared with what is erased.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.tasks import task_backends
from django_tasks_db.backend import DatabaseBackend
from django_tasks_db.models import DBTaskResult

from memory.base import jobs
from memory.base.jobs import Job
from memory.base.models import ContentRef
from memory.interchange.models import StagedRow
from memory.interchange.tasks import KIND, asked_of
from memory.ledger.models import Namespace


def staged_rows(namespace: int, refs: Sequence[ContentRef]) -> int:
    """Rows that wait for an import to be applied; that import starts again."""
    return int(StagedRow.objects.filter(namespace=namespace).delete()[0])


def uploads_and_results(namespace: int, refs: Sequence[ContentRef]) -> int:
    """Jobs with their files and previews: what has ended in this namespace, and imports in it or into it.

    An import is asked for in one namespace and may go to others, whose names begin with that of its target. One that
    runs right now is left to its end.
    """
    name = Namespace.objects.get(pk=namespace).name
    found = [job for job in jobs.every() if job.state != "running" and _may_hold(job, namespace, name)]
    for job in found:
        jobs.drop(job)
    return len(found)


def _may_hold(job: Job, namespace: int, name: str) -> bool:
    is_import = job.kind == KIND
    if job.namespace == namespace:
        return is_import or job.has_ended
    if not is_import:
        return False
    asked = asked_of(job)
    return name == asked.base or name.startswith(f"{asked.base}.") or name in asked.mapping.values()


def task_results(namespace: int, refs: Sequence[ContentRef]) -> int:
    """Results of tasks that have ended, of any namespace: that of a failed one holds what it was doing then."""
    if not isinstance(task_backends["default"], DatabaseBackend):
        return 0
    return int(DBTaskResult.objects.filter(finished_at__isnull=False).delete()[0])
