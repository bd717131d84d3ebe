"""Writes about calibration: tell labels, acknowledge and close alarms."""
