"""Reads about beliefs, each as of a point."""
