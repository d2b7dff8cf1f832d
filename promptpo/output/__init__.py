"""What a person gets from a run."""
