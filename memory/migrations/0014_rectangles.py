"""The spatial index over rectangles of facts, and the index by which it is done without."""

from django.db import migrations, models

import memory.facts.space


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0013_tombstones"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="factrect",
            name="fact_rect_ending",
        ),
        migrations.AddIndex(
            model_name="factrect",
            index=models.Index(fields=["namespace", "entity", "known_from"], name="fact_rect_known"),
        ),
        memory.facts.space.RectangleIndex(),
    ]
