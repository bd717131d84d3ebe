"""Calibration: whether the probabilities that agents state come true, and since when they do not.

Terms
- A *label* is the true relation of an observation, told later; a *correction* is a further label that supersedes one.
  A *segment* is a run's forecasts of one relation type, all together or of one source family.
- The *reference* is the first labels of a segment as they arrived; the *current* window is the last of the rest.
- *Evidence* asks "was this ever miscalibrated", at a level; *change* asks "has this changed", at a mean number of
  labels between false alarms. Both may be looked at after every label. Fixed guards are reported and page nobody.

Invariants
- A forecast is scored as it was frozen; a label never changes, and a correction names what it supersedes.
- The reference is locked by the label that fills it: late labels join the current side, and a correction changes a
  value and never membership.
- An alarm is evidence, written in the entry of the label that tipped it. It changes nothing that is stored, and no
  correction takes it back: after one the process starts again with a smaller share of its level.
- Sums are exact, so that a report made from running sums equals one made from the rows to the last bit.

Decision: forecasts are dealt to streams of one open forecast each, whose weights sum to one. The other way, to start
again with more streams whenever labels fall further behind, throws away what was learned; a weight costs a constant.
"""
