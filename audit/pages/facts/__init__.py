"""The pages of facts: the browser, a subject, one fact with its life, and conflicts with the verdict on them."""
