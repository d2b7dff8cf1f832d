"""Build environments whose episodes a seed repeats."""
