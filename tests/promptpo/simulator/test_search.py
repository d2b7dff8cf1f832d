"""How the search for a program's numbers spends its simulated steps."""

import statistics
from typing import Any

import gymnasium
import pytest

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
"""A program whose condition decides for one copy only."""


@pytest.mark.parametrize(("source", "alone"), [(ALONE, True), (SWING_UP, False)])
def test_a_program_that_plays_copy_by_copy_is_finished_one_candidate_at_a_time(
    source: str, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many slow copies in one question would be cut by its time limit, and return less than they do."""
    env = gymnasium.make("Pendulum-v1")
    simulation = Simulation.of(PENDULUM, env.observation_space, env.action_space, 50)
    candidates: list[int] = []
    play = SimulatorGuest.play

    def watch(guest: SimulatorGuest, work: LanePlay) -> Any:
        candidates.append(len(work.vectors))
        assert work.together != alone
        return play(guest, work)

    monkeypatch.setattr(SimulatorGuest, "play", watch)
    with Sandbox() as box:
        Finish(simulation, source).run(box)
    assert (max(candidates) == 1) == alone


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
