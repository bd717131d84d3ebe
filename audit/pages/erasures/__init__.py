"""Pages of erasure: what names a subject, what erasing it takes, the act, and its receipt."""
