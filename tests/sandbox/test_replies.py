"""A failing policy gets its own error back, whatever else its reply contains: debug values, perceptions or output."""

from __future__ import annotations

import itertools

import pytest

from promptpo_sandbox import Sandbox, Trial
from promptpo_sandbox.results import Record
from tests.sandbox.environments import WalkEnv

FAILURES = {
    "raise": ("raise ValueError('mine')", "crashed", "ValueError: mine"),
    "index": ("return obs[99]", "crashed", "IndexError"),
    "none": ("return None", "invalid_action", "act returned None"),
    "shape": ("return np.zeros(7)", "invalid_action", "its shape is (7,)"),
    "nan": ("return np.full(2, np.nan)", "invalid_action", "NaN"),
    "talking": ("raise Talking()", "crashed", "Talking: text"),
}
"""Statement that fails in act, the kind of the failure and a part of its sentence."""

KEEPS = {
    "nothing": "",
    "debug": "self.debug = {'x': 1.0, 'word': 'y'}",
    "huge": "self.debug = {'x': 10 ** 5000, 'y': 'z' * 5000}",
    "surrogate": "self.debug = {'x': '\\ud800'}",
    "no dict": "self.debug = 3",
    "prints": "print('before')",
    "generator": "self.talk = talking(); next(self.talk)",
    "all": "self.debug = {'x': 1.0}; print('before'); self.perceive(obs); self.talk = talking(); next(self.talk)",
}
"""Statements that leave values or output behind before act goes on."""

RECORDS: tuple[Record, ...] = (False, True, "seen", "info")

SOURCE = """
import numpy as np


class Talking(Exception):
    def __str__(self):
        print("while shown")
        return "text"


def talking():
    try:
        yield 1
    finally:
        print("at the end")


class Policy:
    def __init__(self, params=None):
        self.n = 0
        CONSTRUCT

    def perceive(self, obs):
        print("perceiving")
        return {"seen": obs[0]}

    def act(self, obs):
        self.n += 1
        if self.n == 1:
            self.weak = obs[0] > 0
        KEEP
        if FAILS:
            FAIL
        return np.zeros(2)
"""


def source(keep: str, fail: str, when: str, construct: str = "pass") -> str:
    """Return a policy that keeps something at each step and fails under a condition."""
    names = {"KEEP": keep or "pass", "FAILS": when, "FAIL": fail, "CONSTRUCT": construct}
    text = SOURCE
    for name, value in names.items():
        text = text.replace(name, value)
    return text


@pytest.mark.slow
def test_error_is_reported_beside_any_other_part_of_a_reply(box: Sandbox) -> None:
    """Some lanes fail in their third step; the others go on with their own values."""
    for (i, (fail, kind, text)), (j, keep) in itertools.product(
        enumerate(FAILURES.values()), enumerate(KEEPS.values())
    ):
        record, lanes = RECORDS[(i + j) % len(RECORDS)], 4 if i % 3 else 1
        code = source(keep, fail, "self.weak and self.n == 3")
        trials = [Trial(seed) for seed in range(6)]
        rollout = box.rollout(
            code, [WalkEnv() for _ in range(lanes)], trials, record=record, stop_on_failure=False
        )
        failed = [episode for episode in rollout.episodes if episode.failure]
        assert 0 < len(failed) < len(trials)
        for episode in failed:
            assert episode.failure is not None
            assert (episode.failure.kind, episode.failure.step) == (kind, 2), (code, episode.failure)
            assert text in episode.failure.message, code
        for episode in rollout.episodes:
            debug = episode.trajectory.debug if episode.trajectory is not None else ()
            if record and "'x': 1.0" in keep and episode.steps:
                assert [kept.get("x") for kept in debug] == [1.0] * episode.steps
            else:
                assert all(set(kept) <= {"x", "y"} for kept in debug)


@pytest.mark.parametrize("fail", [FAILURES["raise"], FAILURES["talking"]])
def test_error_in_the_constructor_is_reported(box: Sandbox, fail: tuple[str, str, str]) -> None:
    """Whatever was printed before or is printed when the policy is deleted."""
    for keep in ("pass", "print('before')", "self.talk = talking(); next(self.talk)"):
        code = source("", "pass", "False", f"{keep}\n        {fail[0]}")
        rollout = box.rollout(code, [WalkEnv(), WalkEnv()], [Trial(0), Trial(1)], record=True)
        assert rollout.failure is not None
        assert fail[2] in rollout.failure.message
        assert ("before" in rollout.output) == ("print" in keep)


@pytest.mark.parametrize("record", [False, True])
def test_output_of_a_deleted_policy_does_not_disturb_others(box: Sandbox, record: Record) -> None:
    """Generators end with their policy, when the host no longer knows its lane."""
    code = source(KEEPS["all"], "pass", "False")
    rollout = box.rollout(code, [WalkEnv() for _ in range(3)], [Trial(s) for s in range(9)], record=record)
    assert rollout.failure is None
    assert len(rollout.episodes) == 9
