"""A policy that plans in a simulator at run time, for tasks with few discrete actions."""

from __future__ import annotations

from gymnasium import spaces

from promptpo.simulator.contract import Simulation

MAX_ACTIONS = 8
PLANS, AHEAD, HELD = 128, 40, (1, 2, 4, 8)
"""Sequences of actions that are compared at each step, their length, and for how many steps a random action is held."""

_PLANNER = '''

class Policy:
    """Compares random sequences of actions in the simulator, the rest of the last best one among them."""

    def __init__(self):
        self.rng = np.random.default_rng()
        self.simulator = Simulator({numbers}, self.rng)
        self.rest = np.zeros({ahead}, int)

    def act(self, obs):
        held = self.rng.choice({held}, {plans})
        drawn = self.rng.integers(0, {actions}, ({ahead}, {plans}))
        steps = np.arange({ahead})[:, None]
        plans = drawn[steps // held, np.arange({plans})]
        plans[0, :{actions}] = np.arange({actions})
        plans[:, -1] = self.rest
        self.simulator.set(np.repeat(np.asarray(obs)[None], {plans}, axis=0))
        total, going = np.zeros({plans}), np.ones({plans})
        for step in range({ahead}):
            _, reward, terminated = self.simulator.step(plans[step] + {start})
            total = total + going * reward
            going = np.where(terminated, 0.0, 0.99 * going)
        best = plans[:, int(np.argmax(np.nan_to_num(total, nan=-1e12)))]
        self.rest = np.append(best[1:], best[-1])
        return int(best[0]) + {start}
'''


def planning_policy(simulation: Simulation) -> str:
    """Return a policy that plans in a simulator; empty where actions are not few, or an engine would be needed."""
    space = simulation.action_space
    if not isinstance(space, spaces.Discrete) or space.n > MAX_ACTIONS or "mechanism" in simulation.source:
        return ""
    program = simulation.program.named("PARAMS", "SIMULATOR_PARAMS")
    if "Policy" in program.names:
        return ""
    return f"{program.source.rstrip()}\n" + _PLANNER.format(
        numbers=simulation.program.given("SIMULATOR_PARAMS") if simulation.vectors else "{}",
        ahead=AHEAD,
        plans=PLANS,
        held=list(HELD),
        actions=int(space.n),
        start=int(space.start),
    )
