# Tries to: make an environment of its own to plan in.
# Must be stopped by: gate; with the gate off: landlock.

import gymnasium
env = gymnasium.make("CartPole-v1")
print("CANARY env")


class Policy:
    def act(self, obs):
        return 0
