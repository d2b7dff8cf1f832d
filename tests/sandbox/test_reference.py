"""The fast path gives the same results as a plain loop over one episode."""

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

PATIENT_LIMITS = Limits(
    step_seconds=0.3, episode_seconds=1.0, construct_seconds=1.0, cpu_seconds=10, wall_factor=100.0
)
TIMED = ("timeout", "memory")
"""Failures whose kind and step depend on how busy the machine is."""

HORIZON = 40
OWN_ENVIRONMENTS = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1")
PLAYED = [path for path in RECORDED if path.parent.name in OWN_ENVIRONMENTS]


def compare(box: Sandbox, source: str, make: type | str, trials: list[Trial]) -> tuple[Episode, ...]:
    """Play the same trials both ways, and check that returns, steps, endings and failures are equal."""
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
    """A sandbox whose deadlines even a busy machine meets."""
    with Sandbox(PATIENT_LIMITS) as sandbox:
        yield sandbox


@pytest.mark.parametrize("path", LEGITIMATE, ids=lambda path: path.stem)
def test_legitimate_policy_plays_the_same(path: Path, patient: Sandbox) -> None:
    """It passes the gate, and its episodes end without a failure."""
    played = compare(patient, path.read_text(), CanaryEnv, [Trial(1), Trial(2)])
    assert [(episode.steps, episode.failure) for episode in played] == [(12, None)] * 2


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recorded_policy_plays_the_same(path: Path, patient: Sandbox) -> None:
    """It plays in the environment that the model wrote it for."""
    source = policy_in(path)
    trials = [Trial(seed, defaults_in(source), HORIZON) for seed in (4, 5)]
    compare(patient, source, path.parent.name, trials)


@pytest.fixture(scope="module")
def hurried() -> Iterator[Sandbox]:
    """A sandbox with short deadlines, since many programs hang."""
    with Sandbox(
        replace(
            PATIENT_LIMITS, step_seconds=0.1, episode_seconds=0.2, construct_seconds=0.2, wall_factor=30.0
        )
    ) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def unhurried() -> Iterator[Sandbox]:
    """A sandbox with ten times the deadlines, since filling memory takes long on a busy machine."""
    with Sandbox(replace(PATIENT_LIMITS, step_seconds=3.0, episode_seconds=20.0, cpu_seconds=60)) as sandbox:
        yield sandbox


@pytest.mark.slow
@pytest.mark.parametrize("path", PASSING, ids=lambda path: path.stem)
def test_attack_fails_the_same(path: Path, unhurried: Sandbox, hurried: Sandbox) -> None:
    """The kind of failure and the step are equal."""
    slow = path.stem.startswith(("memory", "hang_creep"))  # which take about as long as the short deadlines
    compare(unhurried if slow else hurried, path.read_text(), CanaryEnv, [Trial(1)])


def test_refused_source_fails_the_same(patient: Sandbox) -> None:
    """It fails before its first step."""
    for path in [path for path in ATTACKS if path not in PASSING][::20]:
        compare(patient, path.read_text(), CanaryEnv, [Trial(1)])
