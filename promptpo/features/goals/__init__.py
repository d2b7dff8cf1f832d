"""A reward for a goal in words, and whether the best policy does what it asks."""
