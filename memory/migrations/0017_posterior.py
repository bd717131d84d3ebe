"""Imports of the peer's stores: the database takes their format, and what their rows become."""

from django.db import migrations, models

import memory.base.triggers

BECAME = [
    "edge", "finding", "forecast", "inverse", "law", "observation", "outcome", "record", "revocation", "run",
]  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0016_calibration"),
    ]

    operations = [
        memory.base.triggers.Unguard(
            table="memory_importrun",
        ),
        migrations.RemoveConstraint(
            model_name="importrun",
            name="import_run_format",
        ),
        migrations.AddConstraint(
            model_name="importrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("format__in", ["contextfs", "posterior"])),
                name="import_run_format",
            ),
        ),
        memory.base.triggers.Guard(
            table="memory_importrun",
        ),
        memory.base.triggers.Unguard(
            table="memory_importedrow",
        ),
        migrations.RemoveConstraint(
            model_name="importedrow",
            name="imported_row_became",
        ),
        migrations.AddConstraint(
            model_name="importedrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("became__in", BECAME)),
                name="imported_row_became",
            ),
        ),
        memory.base.triggers.Guard(
            table="memory_importedrow",
        ),
    ]
