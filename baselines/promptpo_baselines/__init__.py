"""Baselines: PPO, TRPO, SAC and other RL algorithms, ICPI, and language models as agents and as networks."""
