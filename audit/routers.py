"""Which database a table lives in.

Invariants
- Background tasks, and nothing else, live in the database `tasks`, so that a polling worker never waits for the writer
  of the store and never holds it up.
- No relation crosses the two databases.
"""

from typing import Any

from django.db.models import Model

TASKS_APP = "django_tasks_database"
TASKS_DATABASE = "tasks"


class TasksRouter:
    """Sends the tables of the task queue to their own database; has no opinion about other tables, except there."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        return TASKS_DATABASE if model._meta.app_label == TASKS_APP else None

    def db_for_write(self, model: type[Model], **hints: Any) -> str | None:
        return self.db_for_read(model, **hints)

    def allow_relation(self, first: Model, second: Model, **hints: Any) -> bool | None:
        if (first._meta.app_label == TASKS_APP) != (second._meta.app_label == TASKS_APP):
            return False
        return None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return (db == TASKS_DATABASE) == (app_label == TASKS_APP)
