"""Networks trained in a simulator."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest

from promptpo.simulator import network
from promptpo.simulator.contract import Simulation
from promptpo.simulator.network import HIDDEN, TrainNetwork, hidden_units
from promptpo.simulator.play import Play
from promptpo_sandbox import Sandbox, check_source
from tests.promptpo.simulator.sources import GRID, WIDE


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox shared by the tests of this module."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.slow
def test_network_learns_a_corridor(box: Sandbox) -> None:
    """Its source passes the gate, and training resumes from its state."""
    spaces = gymnasium.spaces.Discrete(8), gymnasium.spaces.Discrete(2)
    simulation = Simulation.of(GRID, *spaces, 30)
    found = TrainNetwork(simulation, 0, steps=25_000).run(box)
    assert found.value == pytest.approx(5.5, abs=1.0)
    assert check_source(found.source) is None
    again = TrainNetwork(simulation, 0, steps=8192, resume=found.state).run(box)
    assert again.value == pytest.approx(5.5, abs=1.0)


@pytest.mark.slow
def test_training_returns_the_best_intermediate_network(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reward changes its sign late in training."""
    monkeypatch.setattr(network, "CHECKED_UPDATES", 4)
    spaces = gymnasium.spaces.Discrete(8), gymnasium.spaces.Discrete(2)
    late = """
    steps = 0

    def step(self, actions):
        self.steps += 1
        cell, reward, ended = self.walk(actions)
        return cell, np.where(self.steps > 320, -reward, reward), ended
"""
    turned = Simulation.of(GRID.replace("def step", "def walk") + late, *spaces, 30)
    found = TrainNetwork(turned, 0, steps=65_000).run(box)
    played = Play(Simulation.of(GRID, *spaces, 30), found.source).run(box)
    assert np.mean(played.returns) == pytest.approx(5.5, abs=1.0)


@pytest.mark.slow
def test_network_ignores_constant_observations(box: Sandbox) -> None:
    """The source passes the gate for 348 numbers."""
    box348, motors = gymnasium.spaces.Box(-np.inf, np.inf, (348,)), gymnasium.spaces.Box(-1, 1, (17,))
    found = TrainNetwork(Simulation.of(WIDE, box348, motors, 20), 0, steps=8192).run(box)
    assert check_source(found.source) is None
    assert np.isfinite(found.value)
    assert hidden_units(17, 6) == HIDDEN
    probe = "    def moves(self, n):\n        one = np.eye(348)[n]\n        return str(bool((self.act(one) != self.act(one * 0)).any()))\n"
    answers = [box.call(f"{found.source}\n{probe}", "Policy.moves", n).value for n in (0, 347)]
    assert answers == ["True", "False"]
