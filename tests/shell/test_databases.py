"""How the two databases are opened and what lives where."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from audit.routers import TASKS_APP, TASKS_DATABASE, TasksRouter

ROOT = Path(__file__).resolve().parents[2]
PRAGMAS = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "recursive_triggers": 1,
    "secure_delete": 1,
    "busy_timeout": 5000,
}


def pragma(database: BaseDatabaseWrapper, name: str) -> object:
    with database.cursor() as cursor:
        return cursor.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.django_db(databases="__all__")
@pytest.mark.parametrize("name", PRAGMAS)
def test_every_sqlite_database_is_durable_guarded_and_patient(name: str) -> None:
    opened = [each for each in connections.all() if each.vendor == "sqlite"]
    assert TASKS_DATABASE in {each.alias for each in opened}
    assert {each.alias: pragma(each, name) for each in opened} == {each.alias: PRAGMAS[name] for each in opened}


@pytest.mark.django_db(databases="__all__")
def test_a_sqlite_transaction_takes_the_write_lock_at_its_start() -> None:
    for each in connections.all():
        if each.vendor == "sqlite":
            assert each.transaction_mode == "IMMEDIATE"


@pytest.mark.django_db(databases="__all__")
def test_the_queue_and_nothing_else_lives_in_the_database_of_tasks() -> None:
    tables = {each.alias: set(each.introspection.table_names()) for each in connections.all()}
    assert all(name.startswith(TASKS_APP) for name in tables[TASKS_DATABASE] - {"django_migrations"})
    assert len(tables[TASKS_DATABASE]) > 1
    assert not any(name.startswith(TASKS_APP) for name in tables["default"])
    assert "memory_entry" in tables["default"]


def test_the_router_sends_the_queue_to_its_database_and_has_no_opinion_about_the_rest() -> None:
    from django.contrib.auth.models import User
    from django_tasks_db.models import DBTaskResult

    router = TasksRouter()
    assert router.db_for_read(DBTaskResult) == router.db_for_write(DBTaskResult) == TASKS_DATABASE
    assert router.db_for_read(User) is None
    assert router.allow_relation(User(), User()) is None
    assert router.allow_relation(User(), DBTaskResult()) is False


@pytest.mark.django_db
def test_an_enqueued_task_runs_at_once_in_tests() -> None:
    from django.tasks import default_task_backend, task

    from tests.shell import tasks

    result = task(tasks.double).enqueue(21)
    assert (default_task_backend.supports_get_result, result.return_value) == (False, 42)


@pytest.mark.django_db
def test_the_engine_of_the_run_is_the_one_that_was_asked_for() -> None:
    asked_for = "postgresql" if os.environ.get("DATABASE_URL", "").startswith("postgres") else "sqlite"
    assert connection.vendor == asked_for
    if asked_for == "postgresql":
        assert connection.pg_version >= 150000


def run_python(code: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "audit.settings", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sqlite_only
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PALIMPSEST_DEBUG", "perhaps"),
        ("DATABASE_URL", "mysql://host/store"),
        ("PALIMPSEST_LOG_LEVEL", "LOUD"),
        ("PALIMPSEST_POOL_SIZE", "0"),
        ("PALIMPSEST_SECRET_KEY_FILE", "/nowhere/at/all"),
    ],
)
def test_a_wrong_variable_stops_the_program_and_is_named(tmp_path: Path, name: str, value: str) -> None:
    done = run_python("import audit.settings", **{"PALIMPSEST_HOME": str(tmp_path), name: value})
    assert done.returncode == 1
    assert name in done.stderr.splitlines()[-1]


@pytest.mark.sqlite_only
def test_without_variables_the_site_runs_on_sqlite_in_its_home_and_serves_the_local_host(tmp_path: Path) -> None:
    code = (
        "from audit import settings as s; print(s.DATABASES['default']['NAME'], s.DEBUG, *s.ALLOWED_HOSTS,"
        " s.SESSION_COOKIE_SECURE, s.SECRET_KEY == (s.PALIMPSEST_HOME / 'secret.key').read_text())"
    )
    done = run_python(code, PALIMPSEST_HOME=str(tmp_path), DATABASE_URL="", PALIMPSEST_HOSTS="")
    expected = f"{tmp_path}/palimpsest.sqlite3 False localhost 127.0.0.1 [::1] False True"
    assert (done.stdout.strip(), done.stderr) == (expected, "")


@pytest.mark.sqlite_only
def test_behind_https_cookies_are_secure_and_http_is_sent_on(tmp_path: Path) -> None:
    code = (
        "import django; django.setup(); from django.test import Client;"
        " plain = Client().get('/x'); probe = Client().get('/healthz');"
        " inside = Client().get('/healthz', headers={'X-Forwarded-Proto': 'https'});"
        " print(plain.status_code, plain.headers['Location'], probe.status_code,"
        " inside.headers['Strict-Transport-Security'])"
    )
    variables = {"PALIMPSEST_HOME": str(tmp_path), "PALIMPSEST_HTTPS": "1", "PALIMPSEST_HOSTS": "testserver"}
    done = run_python(code, **variables)
    assert done.stdout.strip() == "301 https://testserver/x 200 max-age=31536000", done.stderr
