"""Further settings of a namespace: the database takes every name that the API has for one."""

from django.db import migrations, models

import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0007_exports"),
    ]

    operations = [
        memory.base.triggers.Unguard(
            table="memory_setting",
        ),
        migrations.RemoveConstraint(
            model_name="setting",
            name="setting_name",
        ),
        migrations.AddConstraint(
            model_name="setting",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("name__in", ["approval_mode", "false_block_limit", "profile", "retention", "review_policy"])
                ),
                name="setting_name",
            ),
        ),
        memory.base.triggers.Guard(
            table="memory_setting",
        ),
    ]
