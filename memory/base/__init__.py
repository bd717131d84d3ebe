"""What every slice stands on: errors, ids, clock, canonical JSON, intervals, as-of points, model bases, the base gate.

It imports no slice. Decisions: identifiers, salts and instants come from injectable sources, so that two runs of one
list of operations give one logical dump; a table is Evidence, Content or Projection and there is no fourth kind.
"""
