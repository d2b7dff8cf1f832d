"""Reward programs for CartPole-v1."""

LEFT = '''"""Keep the cart left of the middle while the pole stands."""


class Reward:
    def __init__(self):
        self.steps = 0

    def step(self, obs, action, next_obs, env_reward, info):
        self.steps += 1
        left = float(next_obs[0] < 0)
        return 2 * left - 1, {"left": left, "right": left - 1}

    def success(self):
        return self.steps > 100
'''

LATE_CRASH = """
class Reward:
    def __init__(self):
        self.steps = 0

    def step(self, obs, action, next_obs, env_reward, info):
        self.steps += 1
        return 1 / (150 - self.steps)
"""

CONSTANT = """
class Reward:
    def step(self, obs, action, next_obs, env_reward, info):
        return 0
"""
