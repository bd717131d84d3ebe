"""Reads about calibration: reports of a run, and what its pages show."""
