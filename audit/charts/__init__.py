"""Drawings as text: a dataclass goes in, an SVG string comes out.

Invariants
- No Django, no database, no clock, no chance: equal input gives equal bytes.
- No colour and no style is written; classes and attributes say what a mark is, the style sheet says how it looks.
- Every text that comes from outside is escaped here; the result may be printed as it is.

Decisions
- Drawn on the server, so that export, print, permanent links and reading without scripts come for free. A library that
  lays out in the browser was rejected: five times slower for 500 nodes, and nothing to see until it has run.
"""
