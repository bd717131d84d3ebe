"""The probes."""

import pytest
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
