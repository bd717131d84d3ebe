"""Counting in the database with a limit: a count that never reads more rows than it will tell."""

from __future__ import annotations

from django.db import models
from django.db.models import Subquery


class Counted(Subquery):
    """The number of rows of a query, its limit included."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = models.BigIntegerField()
