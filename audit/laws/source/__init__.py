"""Static reading of a store's source code: shapes behind a clause, found by file and line.

Decided: patterns over the syntax tree, never an import or a run of what is read. A pattern that is found shows how a
clause can fail; one that is not found proves nothing, for the same fault can be written in other words.
"""
