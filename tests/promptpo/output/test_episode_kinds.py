"""Results of episodes that are not independent samples: no interval and no pairing by seed."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.show import describe_evaluation
from promptpo.multi_seed import _interval_over_runs
from promptpo.output.comparing import compare
from promptpo.output.outcome import describe_test, outcome
from promptpo.output.recorded_result import RecordedScore
from promptpo.output.report.page import write_report
from promptpo.output.report.scores import kind_of_episodes
from promptpo.output.runs import read_line
from promptpo.output.tracking.events import test_metrics as metrics_of
from promptpo.output.verdict import Facts, verdict
from tests.promptpo.output.test_verdict import evidence

CART = '''import gymnasium
import numpy as np


class Cart(gymnasium.Env):
    """A cart on a slope."""

    def __init__(self):
        self.slopes = np.linspace(-0.03, -0.01, 2000)
        self.observation_space = gymnasium.spaces.Box(-10.0, 10.0, (2,))
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.v, self.t = START
        self.end = self.t + 20
        return np.array([self.x, self.v], np.float32), {}

    def step(self, action):
        self.v += 0.1 * float(action[0]) + SLOPE
        self.x = float(np.clip(self.x + 0.1 * self.v, -10, 10))
        self.t += 1
        return np.array([self.x, self.v], np.float32), -self.x**2, False, self.t >= self.end, {}
'''
KINDS = {
    "paired": ("self.np_random.uniform(0, 2), 0.0, 0", "-0.02"),
    "unpaired": ("np.random.default_rng().uniform(0, 2), 0.0, 0", "-0.02"),
    "replayed": ("1.0, 0.0, int(self.np_random.integers(1900))", "self.slopes[self.t]"),
    "identical": ("1.0, 0.0, 0", "-0.02"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_given_for_independent_episodes_only(tmp_path: Path, kind: str) -> None:
    """The terminal, `result.json`, the report, the exported file and the comparison agree."""
    start, slope = KINDS[kind]
    file = tmp_path / "cart.py"
    file.write_text(CART.replace("START", start).replace("SLOPE", slope))
    few: dict[str, Any] = {
        "max_steps": 4000,
        "rounds": 1,
        "candidates": 2,
        "tune": "none",
        "test_episodes": 6,
    }
    run = promptpo.optimize(f"{file}:Cart", model="search", **few, out=tmp_path / "run", progress=False)
    assert kind_of_episodes(run.data) == kind
    independent = kind in {"paired", "unpaired"}
    write_report(run.directory, out=tmp_path / "page.html", episode=False)
    page = re.sub(r"<(style|script).*?</\1>", "", (tmp_path / "page.html").read_text(), flags=re.DOTALL)
    header = run.policy_path.read_text().split('"""')[1]
    texts = [outcome(run.data, run.directory), header, page]
    for text in texts:
        assert ("95 % interval " in text) == independent, text
        assert "nan" not in text
    for text in texts[:2]:
        assert ("On the same seeds" in text) == (kind == "paired")
        assert ("±" in text) == independent
        assert ("shared episodes" in text) == (kind == "paired")
    zero = {"zero": run.data["references"]["zero"]}
    assert "the zero action returns " in outcome({**run.data, "references": zero}, run.directory)
    ends = re.findall(r'"ci95": \[\s*([^,\s]+)', json.dumps(run.data))
    assert ends
    assert independent or {*ends} == {"null"}
    assert (None not in run.data["test"]["ci95"]) == independent
    assert_evaluations_agree(f"{file}:Cart", run.policy_path, kind)
    line = repr(compare(run.directory, run.directory))
    assert (" to " in line) == independent
    assert read_line(run.directory).facts["episodes"] == kind


def assert_evaluations_agree(env_id: str, policy: Path, kind: str) -> None:
    """Check that evaluating the file and a baseline omit the interval for replayed data, too."""
    played = promptpo.evaluate(policy, env_id, episodes=5)
    trained = promptpo.baseline(
        "random", env_id, test_episodes=5, validation_episodes=2, out=policy.parent / "random"
    )
    replayed = kind == "replayed"
    for found in (played, trained):
        assert math.isnan(found.ci95[0]) == replayed
        exact = kind == "identical" and found is played  # random actions differ
        assert ("95 % interval" in repr(found)) == (not replayed and not exact)
    texts = describe_evaluation(played), "\n".join(describe_test(trained.data, trained.directory))
    for text in texts:
        assert ("All episodes replay recorded data (env.slopes (2,000 rows))" in text) == replayed
        assert "nan" not in text
    assert kind_of_episodes(trained.data) == ("replayed" if replayed else "paired")


def test_identical_episodes_need_no_second_sample() -> None:
    """The policy's mean is exact, so that only the reference has an error."""
    references = {"random": evidence([-97.3, -44.2])}
    noisy = Facts(test=evidence([-6.7, -6.7]), references=references)
    assert verdict(noisy).startswith("No better than random actions")
    exact = Facts(test=evidence([-6.7, -6.7]), references=references, episodes="identical")
    assert verdict(exact).startswith("Better than random actions: -6.7 against -70.8.")


def test_null_intervals_are_ignored() -> None:
    """Neither the interval over runs nor trackers use them."""
    rows = [{"mean_return": 10.0 + n, "ci95": [None, None]} for n in range(3)]
    low, high = _interval_over_runs(rows)
    assert low < 11.0 < high
    assert metrics_of(RecordedScore(1.0, (None, None))) == {"test/mean_reward": 1.0}
