"""Scores, windows, test processes and reports of forecasts and labels: no Django, no clock, no chance of its own."""
