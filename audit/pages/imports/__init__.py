"""The pages of imports: what came in, bringing a store in by a dry run first, and what was found in one."""
