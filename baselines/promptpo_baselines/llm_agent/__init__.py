"""A language model that acts by itself: at every step it is told what is seen and names an action, or is scored on all."""
