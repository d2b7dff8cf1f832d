"""The fast path comes to what a plain loop over one episode comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import gymnasium
import pytest

from promptpo_sandbox import Episode, Limits, Sandbox, Trial
from promptpo_sandbox.lockstep.reference import play_episode
from tests.sandbox.canaries import CanaryEnv
from tests.sandbox.recordings import RECORDED, defaults_in, policy_in
from tests.sandbox.test_attacks import ATTACKS, PASSING
from tests.sandbox.test_legitimate import LEGITIMATE

PATIENT = Limits(
    step_seconds=0.3, episode_seconds=1.0, construct_seconds=1.0, cpu_seconds=10, wall_factor=30.0
)
TIMED = ("timeout", "memory")
"""Failures whose moment, and name, depend on how busy the machine is."""

HORIZON = 40
OWN_ENVIRONMENTS = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1")
PLAYED = [path for path in RECORDED if path.parent.name in OWN_ENVIRONMENTS]


def compare(box: Sandbox, source: str, make: type | str, trials: list[Trial]) -> tuple[Episode, ...]:
    """Play the same trials both ways; return, steps, how they ended and who failed are the same."""
    build = (lambda: gymnasium.make(make)) if isinstance(make, str) else make
    fast = box.rollout(source, [build(), build()], trials, clip_actions=True, stop_on_failure=False).episodes
    plain = [play_episode(box, source, build(), trial) for trial in trials]
    for ours, theirs in zip(fast, plain, strict=True):
        kinds = [None if episode.failure is None else episode.failure.kind for episode in (ours, theirs)]
        if set(kinds) & {*TIMED}:
            assert None not in kinds
            continue
        assert kinds[0] == kinds[1]
        assert (ours.return_, ours.steps) == (theirs.return_, theirs.steps)
        assert (ours.terminated, ours.truncated, ours.success) == (
            theirs.terminated, theirs.truncated, theirs.success,
        )  # fmt: skip
    return fast


@pytest.fixture(scope="module")
def patient() -> Iterator[Sandbox]:
    """A sandbox whose deadlines a busy machine keeps."""
    with Sandbox(PATIENT) as sandbox:
        yield sandbox


@pytest.mark.parametrize("path", LEGITIMATE, ids=lambda path: path.stem)
def test_an_honest_policy_plays_the_same(path: Path, patient: Sandbox) -> None:
    """Whatever its style: the gate lets it pass, and its episodes end without a failure."""
    played = compare(patient, path.read_text(), CanaryEnv, [Trial(1), Trial(2)])
    assert [(episode.steps, episode.failure) for episode in played] == [(12, None)] * 2


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_policy_plays_the_same(path: Path, patient: Sandbox) -> None:
    """Those of a language model, in the environments that they were written for."""
    source = policy_in(path)
    trials = [Trial(seed, defaults_in(source), HORIZON) for seed in (4, 5)]
    compare(patient, source, path.parent.name, trials)


@pytest.fixture(scope="module")
def hurried() -> Iterator[Sandbox]:
    """A sandbox in which many programs that hang take little time."""
    with Sandbox(replace(PATIENT, step_seconds=0.1, episode_seconds=0.2, construct_seconds=0.2)) as sandbox:
        yield sandbox


@pytest.mark.slow
@pytest.mark.parametrize("path", PASSING, ids=lambda path: path.stem)
def test_an_attack_fails_the_same(path: Path, patient: Sandbox, hurried: Sandbox) -> None:
    """In the same way, at the same step; what fills memory needs its time."""
    compare(patient if path.stem.startswith("memory") else hurried, path.read_text(), CanaryEnv, [Trial(1)])


def test_what_the_gate_refuses_fails_the_same(patient: Sandbox) -> None:
    """Before its first step, whatever it is refused for."""
    for path in [path for path in ATTACKS if path not in PASSING][::20]:
        compare(patient, path.read_text(), CanaryEnv, [Trial(1)])
