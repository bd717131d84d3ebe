"""The page of agents and people: who may write and read here, by which token or role, and the acts that change it."""
