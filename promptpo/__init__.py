"""promptpo: a large language model writes the policy for a reinforcement-learning environment."""

__version__ = "0.1.0"
