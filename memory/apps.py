"""The app: registers what the slices add to the base gate, to entries, to erasure and to projections."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class MemoryConfig(AppConfig):
    name = "memory"
    label = "memory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Registered here and not where they are defined, so that importing a slice changes nothing.
        from memory import wiring
        from memory.lineage import maintenance

        wiring.connect()
        post_migrate.connect(maintenance.after_migration, sender=self)
