"""Which records of one or two stores are the same but for what chance and clocks gave them.

Decided: classes by partition refinement, the observation of a record first, then the classes of what it points at, in
sets. The rejected option is to walk both records side by side and compare trees: it does not end on cycles, and it
tells a merge that was repeated from one that was made once.
"""
