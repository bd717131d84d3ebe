"""Reads about facts, each as of a point."""
