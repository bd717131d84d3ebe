"""Browsers in which people of a world are signed in."""

from django.contrib.auth.models import User
from django.test import Client

from memory.base.actor import Actor


def browser(person: Actor, *, checks_csrf: bool = False) -> Client:
    """A browser in which the person is signed in."""
    client = Client(enforce_csrf_checks=checks_csrf)
    client.force_login(User.objects.get(pk=person.person or 0))
    return client
