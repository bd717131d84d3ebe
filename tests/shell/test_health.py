"""The probes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client


def test_healthz_answers_without_touching_a_database(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "alive"}


@pytest.mark.django_db(databases="__all__")
def test_readyz_answers_200_when_all_migrations_are_applied(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200, response.content
    assert response.json() == {"status": "ready"}


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_a_probe_takes_no_other_method_than_get_and_head(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405


@pytest.mark.django_db(databases="__all__")
def test_readyz_answers_503_and_names_the_database_that_lacks_a_migration(client: Client) -> None:
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app="memory").order_by("-name")[0].delete()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["Retry-After"] == "5"
    assert response.json()["code"] == "unavailable"
    assert response.json()["detail"] == "The database 'default' lacks 1 migrations; run `manage.py migrate`."


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_readyz_answers_503_and_healthz_200_while_the_database_is_out_of_reach(tmp_path: Path) -> None:
    code = (
        "import django; django.setup(); from django.test import Client;"
        " print(Client().get('/healthz').status_code, Client().get('/readyz').status_code)"
    )
    variables = {
        "DJANGO_SETTINGS_MODULE": "audit.settings",
        "PALIMPSEST_HOME": str(tmp_path),
        "PALIMPSEST_HOSTS": "testserver",
        "DATABASE_URL": f"postgresql://palimpsest@/store?host={tmp_path}",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["200", "503"], done.stderr
