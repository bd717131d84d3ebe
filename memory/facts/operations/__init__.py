"""Writes about facts: declare an attribute, assert, supersede, retract, adjudicate."""
