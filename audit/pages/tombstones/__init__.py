"""The pages of dead ends: the list by due date, one with its whole life, burying, and asking about a route."""
