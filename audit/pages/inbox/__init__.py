"""The Inbox: one queue of everything that waits for a person, each row with the verb that settles it."""
