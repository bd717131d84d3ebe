"""Writes about beliefs: bind a law, observe, revoke, watch, save a question."""
