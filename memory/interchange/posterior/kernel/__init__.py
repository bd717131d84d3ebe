"""The peer's rows as plain values: what they say, and what does not verify. No Django, no I/O."""
