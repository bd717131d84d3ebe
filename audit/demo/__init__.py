"""The demo: a real story and a real stream of forecasts, replayed, and a real store of another memory, imported.

- `xz-2024` holds 80 public, dated facts about the xz backdoor (lines, each with its source) and what our own agents did
  with them (acts, each invented and marked `re_enacted`). No real person is a subject; the four people are roles.
- `digits` holds what a real classifier stated of 800 images and what they show; from one day on the images were turned,
  which every reading says.
- `demo.<source>` holds one namespace for each namespace of a store that ContextFS wrote.

Invariants
- Everything goes through the doors that clients use; there are no fixture rows and no SQL. Only what no token may do by
  any route (founding, members, agents, the loader's token) calls the operation itself.
- Loading twice writes nothing the second time, and a loading that was cut short goes on where it ended.
- Identifiers and salts of both stories follow from the names of their steps, so that the first has one root on every
  machine; in the second an alarm keeps its measured level, whose last bit is the processor's. They hide nothing
  therefore; nothing in them needs hiding. The loaders' tokens end in the stories' own time, years before any real clock
  that could be asked to honour them.
"""
