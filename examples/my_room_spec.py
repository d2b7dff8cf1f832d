# ruff: noqa: ANN001, ANN204, D101
"""Keep a room at 21 degrees Celsius with a heater that is on or off."""


class State:
    def __init__(self, obs):
        self.inside = obs[0]  # -20 .. 50; degrees Celsius
        self.outside = obs[1]  # -20 .. 50; degrees Celsius, constant during an episode


class Action:
    OFF, ON = 0, 1
