"""How tuning in a simulator spends its steps."""

import statistics
from typing import Any

import gymnasium
import pytest

from promptpo.program import Program
from promptpo.simulator import finish
from promptpo.simulator.contract import Simulation
from promptpo.simulator.finish import Finish
from promptpo.simulator.search import FINAL_LANES, Search
from promptpo_sandbox import Sandbox
from promptpo_sandbox.simulators import LanePlay, SimulatorGuest
from tests.promptpo.simulator.sources import PENDULUM, SWING_UP

ALONE = """PARAMS = {"gain": (1.0, -2.0, 2.0)}


class Policy:
    def __init__(self, params):
        self.gain = params["gain"]

    def act(self, obs):
        return [self.gain if float(obs[2]) > 0 else -self.gain]
"""
"""A program with a branch, which cannot be batched."""


def pendulum(horizon: int) -> Simulation:
    """A simulated pendulum."""
    env = gymnasium.make("Pendulum-v1")
    return Simulation.of(PENDULUM, env.observation_space, env.action_space, horizon)


SLOW_ALONE = ALONE.replace("return", "sum(range(4_000))\n        return")
SLOW_IN_LANES = SWING_UP.replace("p = self.p", "p = self.p\n        sum(range(60_000))")


@pytest.mark.slow
@pytest.mark.parametrize(("source", "alone"), [(SLOW_ALONE, True), (SLOW_IN_LANES, False)])
def test_slow_program_is_tuned_within_its_time_limit(
    source: str, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Choosing between finalists takes at most half as many steps; returns are always of 32 episodes."""
    played: list[tuple[LanePlay, float]] = []
    play = SimulatorGuest.play

    def watch(guest: SimulatorGuest, work: LanePlay) -> Any:
        assert work.together != alone or work.policy != source
        found = play(guest, work)
        if work.policy == source:
            played.append((work, found.acting_seconds))
        return found

    monkeypatch.setattr(SimulatorGuest, "play", watch)
    with Sandbox() as box:
        found = Search(pendulum(50), source, steps=10**6, seconds=0.2, starts=2).run(box)
    *generations, (choice, _), (last, _) = played
    spent = [seconds for _, seconds in generations]
    assert sum(spent) >= 0.4 > sum(spent[:-1])
    assert choice.lanes * len(choice.vectors) * choice.horizon <= found.simulated_steps / 2
    assert len(found.returns) == last.lanes == FINAL_LANES
    assert max(found.returns) < 0.0


def test_slow_program_is_rounded_but_not_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = ALONE.replace("1.0, -2.0", "0.123456789, -2.0").replace("self.gain if", "0.0 * self.gain if")
    tuned = tuned.replace("else -self.gain", "else 0.0")
    with Sandbox() as box:
        assert Finish(pendulum(50), tuned).run(box).dropped == ("gain",)
        monkeypatch.setattr(finish, "PRUNING_SECONDS", 1e-6)
        found = Finish(pendulum(50), tuned).run(box)
    assert found.dropped == ()
    assert "(0.123, " in found.source
    assert found.simulated_steps == 2 * FINAL_LANES * 50


STEADY = """import numpy as np


class Simulator:
    def __init__(self, params, rng):
        pass

    def reset(self, n):
        return np.zeros((n, 3))

    def set(self, obs):
        pass

    def step(self, actions):
        n = len(actions)
        return np.zeros((n, 3)), 1.0 - 0.005 * (actions[:, 0] - 1.0) ** 2, np.zeros(n, bool)
"""
"""A simulator in which doing nothing returns 0.995 of the maximum."""


def test_finishing_keeps_the_return() -> None:
    """A parameter worth half a percent stays, a worthless one goes."""
    tuned = """PARAMS = {"worth": (1.00012345, -2.0, 2.0), "idle": (0.71234567, -2.0, 2.0)}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        return [self.p["worth"] + self.p["idle"] * obs[0]]
"""
    env = gymnasium.make("Pendulum-v1")
    with Sandbox() as box:
        found = Finish(Simulation.of(STEADY, env.observation_space, env.action_space, 20), tuned).run(box)
    assert found.dropped == ("idle",)
    assert Program.from_source(found.source).values == {"worth": 1.0, "idle": 0.0}
    assert found.value == pytest.approx(20.0)


@pytest.mark.slow
def test_slow_simulator_uses_fewer_episodes_per_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal steps then give more generations."""
    simulation = pendulum(200)
    lanes: dict[float, list[int]] = {}
    play = SimulatorGuest.play

    def watch(guest: SimulatorGuest, work: LanePlay) -> Any:
        if work.lanes < FINAL_LANES:
            lanes[share].append(work.lanes)
        return play(guest, work)

    monkeypatch.setattr(SimulatorGuest, "play", watch)
    with Sandbox() as box:
        for share in (1.0, 0.5, 0.01):
            lanes[share] = []
            Search(simulation, SWING_UP, steps=20_000, starts=1, share=share).run(box)
    usual = {share: statistics.mode(each) for share, each in lanes.items()}
    assert usual[1.0] > usual[0.5] == usual[0.01] == 1
    assert len(lanes[0.01]) > len(lanes[0.5]) > len(lanes[1.0])
