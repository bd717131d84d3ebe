"""The demo: one real story, replayed as it became known, and one real store of another memory, imported.

- `xz-2024` holds 80 public, dated facts about the xz backdoor (lines, each with its source) and what our own agents did
  with them (acts, each invented and marked `re_enacted`). No real person is a subject; the four people are roles.
- `demo.<source>` holds one namespace for each namespace of a store that ContextFS wrote.

Invariants
- Everything goes through the doors that clients use; there are no fixture rows and no SQL. Only what no token may do by
  any route (founding, members, agents, the loader's token) calls the operation itself.
- Loading twice writes nothing the second time, and a loading that was cut short goes on where it ended.
- Identifiers and salts of the story follow from the names of its steps, so that it has one root on every machine.
  They hide nothing therefore; nothing in the story needs hiding. The loader's token ends in the story's own time, years
  before any real clock that could be asked to honour it.
"""
