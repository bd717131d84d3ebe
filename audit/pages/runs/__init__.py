"""The pages of runs: the list, found by reference, and everything that one task, session or case did."""
