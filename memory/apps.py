"""The app: registers what the slices add to the base gate, to entries, to erasure and to projections."""

from __future__ import annotations

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"
    label = "memory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Registered here and not where they are defined, so that importing a slice changes nothing.
        from memory import wiring

        wiring.connect()
