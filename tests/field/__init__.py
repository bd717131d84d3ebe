"""Faults that users of other stores have reported, as scenarios: each test is named by the number of its report.

A scenario is played through the API, and looked at on every surface that it speaks of: API, page, export.
"""
