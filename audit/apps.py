"""The Django application `audit`: the site."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "audit"
    label = "audit"

    def ready(self) -> None:
        # What runs a law reads tables, which stand only now.
        from audit.laws.registration import register

        register()
