"""Rollouts: results do not depend on lanes or neighbours, and failures are distinguished."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo_sandbox import Episode, Limits, Rollout, Sandbox, Trial
from tests.sandbox.environments import FaultyEnv, TableEnv, WalkEnv

STATEFUL = """
import random
import numpy as np

SEEN = []

class Policy:
    calls = 0

    def __init__(self, params):
        self.gain = params.get("gain", 1.0)
        self.rng = np.random.default_rng()
        SEEN.append(1)

    def act(self, obs):
        Policy.calls += 1
        SEEN.append(obs)
        noise = random.random() + np.random.rand() + self.rng.normal() + 0.01 * len(SEEN) + 0.01 * Policy.calls
        obs[0] = 7.0
        return np.tanh(self.gain * noise * obs[:2])
"""


def keys(rollout: Rollout) -> list[tuple[Any, ...]]:
    """Return the values that must be equal bit for bit."""
    return [(e.seed, e.return_, e.steps, e.terminated, e.truncated, e.success) for e in rollout.episodes]


def test_same_results_for_any_number_of_lanes(box: Sandbox) -> None:
    """A random policy with state runs with 1, 3, 8 and 20 lanes."""
    trials = [Trial(seed, {"gain": 0.1 * seed}) for seed in range(20)]
    reference = box.rollout(STATEFUL, [WalkEnv()], trials)
    assert reference.failure is None
    assert len({key[1] for key in keys(reference)}) == 20
    for lanes in (3, 8, 20):
        rollout = box.rollout(STATEFUL, [WalkEnv() for _ in range(lanes)], trials)
        assert keys(rollout) == keys(reference)
        assert rollout.steps == reference.steps == sum(e.steps for e in reference.episodes)


def test_same_results_in_another_sandbox(box: Sandbox) -> None:
    """The other sandbox has a new zygote and gets the trials in two parts."""
    trials = [Trial(seed) for seed in range(8)]
    reference = keys(box.rollout(STATEFUL, [WalkEnv() for _ in range(4)], trials))
    with Sandbox() as other:
        halves = [other.rollout(STATEFUL, [WalkEnv(), WalkEnv()], part) for part in (trials[:5], trials[5:])]
    assert keys(halves[0]) + keys(halves[1]) == reference


def test_rollout_equals_a_plain_loop(box: Sandbox) -> None:
    """That calls policy and environment directly."""
    source = """
class Policy:
    def __init__(self):
        self.t = 0
    def act(self, obs):
        self.t += 1
        return int(obs[2] + 0.5 * obs[3] + 0.01 * (self.t % 3) > 0)
"""
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102 - our own text
    env = gymnasium.make("CartPole-v1")
    expected = []
    for seed in range(6):
        policy = namespace["Policy"]()
        obs, _ = env.reset(seed=seed)
        total, steps, over = 0.0, 0, False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(policy.act(obs))
            total, steps, over = total + float(reward), steps + 1, terminated or truncated
        expected.append((total, steps))
    envs = [gymnasium.make("CartPole-v1") for _ in range(4)]
    rollout = box.rollout(source, envs, [Trial(seed) for seed in range(6)])
    assert [(e.return_, e.steps) for e in rollout.episodes] == expected


def test_trajectory_has_one_more_observation(box: Sandbox) -> None:
    """Recorded arrays are copies."""
    rollout = box.rollout(STATEFUL, [WalkEnv(), WalkEnv()], [Trial(1), Trial(2)], record=True)
    for episode in rollout.episodes:
        path = episode.trajectory
        assert path is not None
        assert len(path.observations) - 1 == len(path.actions) == len(path.rewards) == episode.steps
        assert sum(path.rewards) == episode.return_
        assert path.observations[0].dtype == np.float64
        assert not np.array_equal(path.observations[0], path.observations[-1])
        assert path.actions[0].dtype == np.float32
        assert episode.extremes == (min(path.rewards), max(path.rewards))
    quick = box.rollout(STATEFUL, [WalkEnv(), WalkEnv()], [Trial(1), Trial(2)])
    assert [e.extremes for e in quick.episodes] == [e.extremes for e in rollout.episodes]


def test_horizon_truncates_only_its_trial(box: Sandbox) -> None:
    trials = [Trial(0, horizon=2), Trial(1), Trial(2, horizon=1)]
    rollout = box.rollout(STATEFUL, [WalkEnv() for _ in range(3)], trials)
    steps = [(e.steps, e.truncated, e.terminated) for e in rollout.episodes]
    assert steps[0] == (2, True, False)
    assert steps[2] == (1, True, False)
    assert steps[1][1:] == (False, True)


def test_success_at_any_step_counts(box: Sandbox) -> None:
    """Without any report it is None."""
    push = "class Policy:\n    def act(self, obs):\n        return [1.0, 0.0]\n"
    rollout = box.rollout(push, [WalkEnv()], [Trial(seed) for seed in range(6)])
    assert {e.success for e in rollout.episodes} <= {True, False}
    assert any(e.success for e in rollout.episodes)
    silent = box.rollout(
        "class Policy:\n    def act(self, obs):\n        return 0\n",
        [gymnasium.make("CartPole-v1")],
        [Trial(0)],
    )
    assert silent.episodes[0].success is None


def test_exception_of_the_environment_is_raised_unchanged(box: Sandbox) -> None:
    """The sandbox stays usable."""
    with pytest.raises(RuntimeError, match="exploded"):
        box.rollout(STATEFUL, [FaultyEnv(), FaultyEnv()], [Trial(0), Trial(1)])
    assert box.rollout(STATEFUL, [WalkEnv()], [Trial(0)]).failure is None


BROKEN = """
class Policy:
    def __init__(self, params):
        self.bad = params["bad"]
        self.n = 0
    def act(self, obs):
        self.n += 1
        if self.bad == 1 and self.n == 3:
            return [1.0, 2.0, 3.0]
        if self.bad == 2:
            return self.nothing
        if self.bad == 3 and self.n == 2:
            while True:
                pass
        if self.bad == 4:
            return [float("nan"), 0.0]
        if self.bad == 5:
            return [5.0, 0.0]
        if self.bad == 6:
            x = bytearray(10**10)
        return [0.0, 0.1]
    nothing = property(lambda self: 1 / 0)
"""
KINDS = [None, "invalid_action", "crashed", "timeout", "invalid_action", "invalid_action", "memory"]


@pytest.fixture(scope="module")
def quick_box() -> Any:
    """A sandbox with short deadlines of CPU time, which waiting for a processor does not use up."""
    with Sandbox(Limits(step_seconds=0.05, wall_factor=1000.0)) as sandbox:
        yield sandbox


@pytest.mark.parametrize("lanes", [1, 4])
def test_failures_stay_with_their_trials(quick_box: Sandbox, lanes: int) -> None:
    """With stop_on_failure off, neighbours of a failed trial are unaffected."""
    bad = [0, 1, 2, 0, 3, 4, 5, 0, 6, 0]
    trials = [Trial(seed, {"bad": kind}) for seed, kind in enumerate(bad)]
    rollout = quick_box.rollout(BROKEN, [WalkEnv() for _ in range(lanes)], trials, stop_on_failure=False)
    assert [e.failure.kind if e.failure else None for e in rollout.episodes] == [KINDS[k] for k in bad]
    clean = quick_box.rollout(BROKEN, [WalkEnv()], [t for t, k in zip(trials, bad, strict=True) if k == 0])
    healthy = [key for key, kind in zip(keys(rollout), bad, strict=True) if kind == 0]
    assert healthy == keys(clean)
    steps = [e.failure.step for e in rollout.episodes if e.failure]
    assert steps == [2, 0, 1, 0, 0, 0]
    assert rollout.failure == rollout.episodes[1].failure


@pytest.mark.parametrize(("lanes", "kind"), [(1, 1), (3, 2), (8, 1), (1, 6), (3, 3)])
def test_first_failure_in_order_ends_the_rollout(quick_box: Sandbox, lanes: int, kind: int) -> None:
    """Earlier trials finish and later ones are left out, for any number of lanes."""
    trials = [Trial(seed, {"bad": kind if seed in (3, 5) else 0}) for seed in range(8)]
    rollout = quick_box.rollout(BROKEN, [WalkEnv() for _ in range(lanes)], trials)
    assert [e.seed for e in rollout.episodes] == [0, 1, 2, 3]
    assert [e.failure is None for e in rollout.episodes] == [True, True, True, False]
    assert rollout.failure is not None
    assert (rollout.failure.kind, rollout.failure.seed) == (KINDS[kind], 3)
    assert rollout.unfinished == (4, 5, 6, 7)


def test_step_limit_is_never_exceeded(box: Sandbox) -> None:
    """Unfinished trials are left out."""
    full = box.rollout(STATEFUL, [WalkEnv()], [Trial(seed) for seed in range(6)])
    for lanes in (1, 4):
        rollout = box.rollout(
            STATEFUL, [WalkEnv() for _ in range(lanes)], [Trial(s) for s in range(6)], on_step_limit=60
        )
        assert rollout.steps == min(60, full.steps)
        assert set(keys(rollout)) <= set(keys(full))
        assert len(rollout.episodes) + len(rollout.unfinished) == 6
        assert rollout.unfinished


def test_out_of_bounds_actions_fail_or_are_clipped_and_counted(box: Sandbox) -> None:
    wild = "class Policy:\n    def act(self, obs):\n        return (3.0, -0.5)\n"
    assert box.rollout(wild, [WalkEnv()], [Trial(0)]).failure.kind == "invalid_action"
    rollout = box.rollout(wild, [WalkEnv(), WalkEnv()], [Trial(0), Trial(1)], clip_actions=True, record=True)
    assert [e.clipped for e in rollout.episodes] == [e.steps for e in rollout.episodes]
    assert rollout.episodes[0].trajectory is not None
    assert rollout.episodes[0].trajectory.actions[0].tolist() == [1.0, -0.5]


def test_invalid_action_names_value_and_space(box: Sandbox) -> None:
    """The detail has the observation."""
    source = "class Policy:\n    def act(self, obs):\n        return 'left'\n"
    failure = box.rollout(source, [gymnasium.make("CartPole-v1")], [Trial(3)]).failure
    assert failure is not None
    assert failure.message == "act returned 'left'; the action space wants an int from 0 to 1"
    assert failure.detail.startswith("obs was array of shape (4,)")
    assert (failure.seed, failure.step) == (3, 0)


def test_crash_shows_only_the_policys_own_lines(box: Sandbox) -> None:
    source = "def helper(x):\n    return x[99]\n\nclass Policy:\n    def act(self, obs):\n        return helper(obs)\n"
    failure = box.rollout(source, [WalkEnv()], [Trial(0)]).failure
    assert failure is not None
    assert failure.message.startswith("line 2: IndexError")
    assert failure.detail.splitlines()[:2] == [
        "line 6, in act: return helper(obs)",
        "line 2, in helper: return x[99]",
    ]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("x = 1\n", "the module defines no class Policy; define class Policy with act(self, obs)"),
        ("class Policy:\n    pass\n", "the class Policy has no method act; define act(self, obs)"),
        ("import os\n", "line 1: the module os is not available"),
        ("def f(:\n", "line 1: syntax error"),
    ],
)
def test_source_without_a_policy_is_rejected_with_a_sentence(
    box: Sandbox, source: str, sentence: str
) -> None:
    failure = box.rollout(source, [WalkEnv()], [Trial(0)]).failure
    assert failure is not None
    assert failure.kind == "rejected"
    assert failure.message.startswith(sentence)


def test_rejected_source_fails_every_trial_of_a_batch(box: Sandbox) -> None:
    """Here stop_on_failure is off."""
    rollout = box.rollout("import os\n", [WalkEnv()], [Trial(0), Trial(1)], stop_on_failure=False)
    assert [e.failure.kind for e in rollout.episodes if e.failure] == ["rejected", "rejected"]


def test_output_is_in_the_order_of_trials(box: Sandbox) -> None:
    """The number of lanes makes no difference."""
    source = (
        "class Policy:\n    def act(self, obs):\n        print(f'{obs[0]:.9f}')\n        return [0.0, 0.0]\n"
    )
    trials = [Trial(seed) for seed in range(5)]
    one = box.rollout(source, [WalkEnv()], trials)
    many = box.rollout(source, [WalkEnv() for _ in range(4)], trials)
    assert one.output == many.output
    assert len(one.output.splitlines()) == one.steps


def test_dead_zygote_is_replaced(box: Sandbox) -> None:
    with Sandbox() as fragile:
        fragile.status  # noqa: B018 - starts it
        zygote = fragile._zygote
        zygote._process.kill()
        zygote._process.wait()
        assert fragile.rollout(STATEFUL, [WalkEnv()], [Trial(0)]).failure is None


def test_no_trials_is_an_empty_rollout(box: Sandbox) -> None:
    """No environment is the caller's mistake."""
    assert box.rollout(STATEFUL, [WalkEnv()], []) == Rollout((), None, 0, "", 0.0)
    with pytest.raises(ValueError, match="at least one environment"):
        box.rollout(STATEFUL, [], [Trial(0)])


def test_episode_times_out_by_the_sum_of_its_steps() -> None:
    """Each step stays below the step deadline."""
    creep = "class Policy:\n    def act(self, obs):\n        s = 0\n        for i in range(200000):\n            s += i\n        return [0.0, 0.0]\n"
    with Sandbox(Limits(step_seconds=2.0, episode_seconds=0.1)) as box:
        failure = box.rollout(creep, [WalkEnv(), WalkEnv()], [Trial(0), Trial(1)]).failure
    assert failure is not None
    assert failure.kind == "timeout"
    assert "of one episode together" in failure.message


def test_rollouts_can_be_pickled(box: Sandbox) -> None:
    """Between trusted processes."""
    import pickle

    rollout = box.rollout(STATEFUL, [WalkEnv()], [Trial(0)])
    again = pickle.loads(pickle.dumps(rollout))  # noqa: S301 - our own bytes
    assert again == rollout
    assert isinstance(again.episodes[0], Episode)


@pytest.mark.parametrize("lanes", [1, 3])
def test_observations_need_not_be_contiguous(box: Sandbox, lanes: int) -> None:
    """Such as a row of a data frame."""
    source = "class Policy:\n    def act(self, obs):\n        return obs[1:] / 1000\n"
    rollout = box.rollout(source, [TableEnv() for _ in range(lanes)], [Trial(seed) for seed in range(4)])
    assert rollout.failure is None
    assert all(episode.return_ > 0 for episode in rollout.episodes)


def test_names_may_contain_any_letters(box: Sandbox) -> None:
    """Names are normalised as in Python, and characters may be named."""
    source = (
        "\u03b8 = 1\n\uff46irst = '\\N{GREEK SMALL LETTER ALPHA}'\n\n\nclass Policy:\n    def act(self, obs):\n"
        "        return \u03b8 if first == '\u03b1' else 0\n"
    )
    rollout = box.rollout(source, [gymnasium.make("CartPole-v1")], [Trial(0, horizon=3)], record=True)
    assert rollout.failure is None
    trajectory = rollout.episodes[0].trajectory
    assert trajectory is not None
    assert trajectory.actions == [1, 1, 1]


def test_no_address_is_told(box: Sandbox) -> None:
    """The same policy fails with the same sentence in every process."""
    source = "class Own:\n    pass\n\n\nclass Policy:\n    def act(self, obs):\n        return {0}\n"
    for value in ("Own()", "[Own(), len]", "{Own: Own.__init__}", "lambda: 0", "(i for i in obs)"):
        failure = box.rollout(source.format(value), [WalkEnv()], [Trial(0)]).failure
        assert failure is not None
        assert "0x" not in failure.message, failure
