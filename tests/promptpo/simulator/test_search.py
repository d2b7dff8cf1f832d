"""How the search for a program's numbers spends its simulated steps."""

import statistics
from typing import Any

import gymnasium
import pytest

from promptpo.simulator.contract import Simulation
from promptpo.simulator.search import FINAL_LANES, Search
from promptpo_sandbox import Sandbox
from promptpo_sandbox.simulators import LanePlay, SimulatorGuest
from tests.promptpo.simulator.sources import PENDULUM, SWING_UP


def test_a_slow_simulator_judges_in_fewer_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that as many steps make more generations; one episode is the least."""
    env = gymnasium.make("Pendulum-v1")
    simulation = Simulation.of(PENDULUM, env.observation_space, env.action_space, 200)
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
