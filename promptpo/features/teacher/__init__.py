"""A trained agent to beat and to learn from."""
