"""Drawings: a dataclass goes in, an SVG string or a figure for plotly.js comes out.

Invariants
- No Django, no database, no clock, no chance: equal input gives equal bytes.
- No colour and no style is written; classes, attributes and inks by role say what a mark is, the page how it looks.
- Every text that comes from outside is escaped here; the result may be printed as it is.

Decisions
- What is drawn as SVG is drawn on the server, so that export, print, permanent links and reading without scripts come
  for free. A library that lays out graphs in the browser was rejected: five times slower for 500 nodes, and nothing
  to see until it has run.
- Series and bars are figures of plotly.js: axes, hover and resizing are made for them; beside each stands its table.
"""
