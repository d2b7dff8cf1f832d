"""The host's side of rollouts: many episodes advance together, one message each way per round."""
