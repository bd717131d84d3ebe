"""Beliefs."""
