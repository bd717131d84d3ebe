"""The edges of a node in the order of their instants, so that the newest are read without the others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0017_posterior"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="observationstate",
            name="observation_state_target",
        ),
        migrations.AddIndex(
            model_name="observationstate",
            index=models.Index(
                fields=["namespace", "relation_type", "source", "observed_at"], name="observation_state_from"
            ),
        ),
        migrations.AddIndex(
            model_name="observationstate",
            index=models.Index(
                fields=["namespace", "relation_type", "target", "observed_at"], name="observation_state_to"
            ),
        ),
    ]
