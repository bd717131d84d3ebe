"""The timeline of one subject, or of one line of records: versions over both clocks, and the answer at a point."""
