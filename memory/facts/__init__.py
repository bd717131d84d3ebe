"""Facts: one checkable value each, on two clocks, with who said it; known, unknown and conflict are computed.

Terms
- A fact states that an attribute of a subject has a value (or, by the stance `denies`, that it has not), over a
  half-open valid interval. An *entity* is a subject together with an attribute.
- It *stands* at a point of both clocks unless it is superseded from an instant on, retracted, a candidate, held or
  turned down. A *side* is all that stands for one value with one stance.
- An *origin* is where a fact first came from; messages that relay one origin count once.

Invariants
- A status is a pure function of evidence, content and the as-of point. Nothing can declare a conflict or a status, and
  nothing is settled by which message came last.
- Known at an earlier seq answers the same for ever; an erased value is the single, visible exception.
- A supersession closes the older fact for good: retracting what replaced it brings nothing back.
- Confidence ranks and is shown; it decides no status and grants nothing.

Decision: an omitted `valid_from` is the instant of recording, so that a statement of today says nothing of yesterday.
"""
