"""Building environments, so that a seed repeats an episode."""
