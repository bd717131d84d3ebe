"""The Django application `audit`: the site."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "audit"
    label = "audit"
