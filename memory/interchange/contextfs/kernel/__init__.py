"""The pure half of the import: a foreign file in, a plan out. Knows no Django and no database but the foreign file."""
