"""How many bets the watch of a segment had placed in its epoch, beside each first label.

Labels of before have none until the projection of calibration is made anew; of them no verdict says "calibrated".
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0018_edges_by_instant"),
    ]

    operations = [
        migrations.AddField(
            model_name="labelstate",
            name="n_bets",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="labelstate",
            name="bets_per_lane",
            field=models.FloatField(null=True),
        ),
    ]
