"""The pages of the ledger: the log and what covers it, an entry with three verdicts, checkpoints, scans, checks."""
