"""Writes of tombstones: burying and asking by whoever may write; reviving, re-testing and retiring by owners."""
