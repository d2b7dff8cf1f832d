"""The programs in attacks/, with the gate and without it: none may do any harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from promptpo_sandbox import Layers, Limits, Rollout, Sandbox, Trial, check_source
from tests.promptpo.nursery import start_with_own_interpreter
from tests.sandbox.canaries import Canaries, CanaryEnv

ATTACKS = sorted(Path(__file__).parent.joinpath("attacks").glob("*.py"))
PASSING = [path for path in ATTACKS if check_source(path.read_text()) is None]
"""Attacks that the gate admits."""
TIGHT = Limits(
    step_seconds=0.03,
    episode_seconds=0.06,
    construct_seconds=0.06,
    memory_bytes=128 * 1024 * 1024,
    cpu_seconds=20,
    wall_factor=8.0,
)
CONTROL = """
class Policy:
    def __init__(self):
        self.n = 0
    def act(self, obs):
        self.n += 1
        return (self.n + int(obs[0] > 0)) % 3
"""


GATED = [
    pytest.param(path, marks=[] if path in PASSING or i % 10 == 0 else pytest.mark.slow, id=path.stem)
    for i, path in enumerate(ATTACKS)
]
"""Default tests run all admitted attacks and a tenth of the refused ones; slow tests run all."""
UNGATED = [
    pytest.param(path, marks=[] if i % 3 == 0 else pytest.mark.slow, id=path.stem)
    for i, path in enumerate(ATTACKS)
]
"""Default tests run every third, slow tests all."""


@pytest.fixture(scope="module")
def gated(expected_returns: list[float]) -> Iterator[Sandbox]:
    """A sandbox with tight limits, in which a well-behaved policy returns the same after all attacks."""
    with Sandbox(TIGHT) as sandbox:
        start_with_own_interpreter(sandbox)
        yield sandbox
        assert control(sandbox) == expected_returns


@pytest.fixture(scope="module")
def ungated(expected_returns: list[float]) -> Iterator[Sandbox]:
    """A sandbox without the gate."""
    with Sandbox(TIGHT, layers=Layers(gate=False)) as sandbox:
        start_with_own_interpreter(sandbox)
        yield sandbox
        assert control(sandbox) == expected_returns


def texts_of(rollout: Rollout) -> list[str]:
    """Return all text in a rollout except its output."""
    failures = [rollout.failure, *(episode.failure for episode in rollout.episodes)]
    return [f"{failure.message}\n{failure.detail}" for failure in failures if failure is not None]


def control(box: Sandbox) -> list[float]:
    """Return the returns of a well-behaved policy."""
    for _ in range(20):  # a busy machine may miss the tight deadlines
        rollout = box.rollout(CONTROL, [CanaryEnv(), CanaryEnv()], [Trial(5), Trial(6)])
        if rollout.failure is None:
            break
    assert rollout.failure is None, rollout.failure
    return [episode.return_ for episode in rollout.episodes]


@pytest.fixture(scope="module")
def expected_returns(box: Sandbox) -> list[float]:
    """The result of `control` in a sandbox without any attack."""
    return control(box)


def test_corpus_is_large_and_labelled() -> None:
    """At least 150 different programs, each saying what it tries and what must stop it."""
    sources = [path.read_text() for path in ATTACKS]
    bodies = {source.split("\n", 2)[2] for source in sources}
    assert len(bodies) == len(ATTACKS) >= 150
    for path, source in zip(ATTACKS, sources, strict=True):
        first, second, *_ = source.splitlines()
        assert first.startswith("# Tries to: "), path.name
        assert second.startswith("# Must be stopped by: "), path.name


@pytest.mark.parametrize("path", GATED)
def test_attack_does_no_harm(path: Path, gated: Sandbox, canaries: Canaries) -> None:
    """Canaries are untouched, the host is alive, and the zygote is the same process."""
    attack(path, gated, canaries)


@pytest.mark.parametrize("path", UNGATED)
def test_attack_without_the_gate_does_no_harm(path: Path, ungated: Sandbox, canaries: Canaries) -> None:
    attack(path, ungated, canaries)


def attack(path: Path, box: Sandbox, canaries: Canaries) -> None:
    """Roll an attack out and check everything that it must not touch."""
    envs = [CanaryEnv(), CanaryEnv()]
    before = box._zygote
    rollout = box.rollout(canaries.arm(path.read_text()), envs, [Trial(1), Trial(2), Trial(3)])
    assert canaries.harm(texts_of(rollout), rollout.output, envs) == []
    assert len(rollout.output) <= TIGHT.output_bytes
    assert before in (None, box._zygote), "the zygote had to be replaced"
