"""Relation laws, factors, inference, retrieval and what a monitor locks: no Django, no clock, no input or output."""
