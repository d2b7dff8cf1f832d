"""A policy's returns depend on source, seeds and parameters alone, whatever it tries to pass on between episodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Limits, Rollout, Sandbox, Trial, check_source
from tests.sandbox.canaries import Canaries, CanaryEnv
from tests.sandbox.test_attacks import ATTACKS

LEGITIMATE = sorted(Path(__file__).parent.joinpath("legitimate").glob("*.py"))
LIMITS = Limits(step_seconds=2.0, episode_seconds=10.0, construct_seconds=5.0)
SLOW = ("hang_", "memory_", "protocol_output", "source_", "exit_exception", "numpy_repeat", "numpy_svd")
"""Attacks whose outcome is a question of time or size."""
ADMITTED = [
    path
    for path in ATTACKS
    if "@" not in path.read_text()
    and not path.stem.startswith(SLOW)
    and check_source(path.read_text()) is None
]
SEEDS = (1, 2, 3, 4)


@pytest.fixture(scope="module")
def lanes_box() -> Iterator[Sandbox]:
    """A sandbox whose deadlines no busy machine reaches."""
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


def returns(rollout: Rollout) -> dict[int, object]:
    """What came of each seed."""
    return {
        episode.seed: (episode.return_, episode.steps, episode.failure and episode.failure.kind)
        for episode in rollout.episodes
    }


def outcomes(box: Sandbox, source: str, lanes: int) -> dict[int, object]:
    """What came of all seeds in one guest with some lanes."""
    return returns(box.rollout(source, [CanaryEnv() for _ in range(lanes)], [Trial(seed) for seed in SEEDS]))


def test_the_gate_admits_attacks_to_try() -> None:
    """There is something to test."""
    names = {path.stem for path in ADMITTED}
    assert {"cheat_function_memory", "cheat_class_memory", "cheat_entropy", "cheat_uninitialised"} <= names


PROGRAMS = [
    pytest.param(path, marks=[] if i % 3 == 0 else pytest.mark.slow, id=f"{path.parent.name}-{path.stem}")
    for i, path in enumerate([*ADMITTED, *LEGITIMATE])
]
"""Every third in the default tests, all in the slow ones."""


@pytest.mark.parametrize("path", PROGRAMS)
def test_lanes_and_guests_agree(path: Path, lanes_box: Sandbox, canaries: Canaries) -> None:
    """Two lanes, four, and a guest for each seed: equal returns wherever an episode was played."""
    source = canaries.arm(path.read_text())
    if path.stem.startswith("scipy"):
        pytest.importorskip("scipy")
    two, four = (outcomes(lanes_box, source, lanes) for lanes in (2, 4))
    alone: dict[int, object] = {}
    for seed in SEEDS:
        alone |= returns(lanes_box.rollout(source, [CanaryEnv()], [Trial(seed)]))
    for other in (two, four):
        assert all(alone[seed] == outcome for seed, outcome in other.items())
    assert bool(two) == bool(four) == bool(alone)
