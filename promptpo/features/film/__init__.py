"""Film strips of episodes in prompts, for models that see."""
