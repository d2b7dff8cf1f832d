"""A reward for a goal in words, and a verdict on whether the best policy fulfils the goal."""
