"""Methods to compare with: PPO, TRPO, SAC and others, ICPI, and language models as agents and as networks."""
