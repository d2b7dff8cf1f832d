"""A language model that acts by itself: at every step it sees the observation and names an action, or scores all."""
