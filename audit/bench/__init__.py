"""Benchmarks: what a guarantee costs, as a ratio to the same work without it, measured in one run.

Invariants
- Each figure is a ratio of two things timed in turn, round by round, in one run; the spread stands beside it.
  Milliseconds are for orientation.
- Everything happens in a store of its own, made for the run and dropped after it; the user's store is never touched.
- Nothing here is asserted. The bars are printed beside the figures, and whoever reads decides.

Decided: the bare side repeats the very statements that an operation sent, in a second database; so both sides write the
same rows into the same tables.
"""
