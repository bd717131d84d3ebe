"""Experiments: figures that anybody can draw again, each by one named command.

Invariants
- A generator is drawn from in one stated order, so that equal seeds give equal worlds on any machine.
- Nothing is fitted, and nothing is read from a store; answers come from the very functions that a query calls.
- A figure is told with its interval, and beside what others published for the same design.

Source: posterior-memory-harness 0.9.0 for the published figures; its README describes the designs.
"""
