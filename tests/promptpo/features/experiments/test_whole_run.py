"""A run whose first policy needs the report of an experiment, since the prompt does not say how actions work."""

import json
import sys
from typing import Any

import pytest

import promptpo
from promptpo.cli.app import run as command_line
from promptpo.output.report.page import write_report
from promptpo.rollouts.packed import AWAITING_FEEDBACK

LEVERS = "tests.environments:Test/Levers-v0"

GUESSES = '''
import re, sys

text = sys.stdin.read()
PROBE = """```python
\\'\\'\\'Each lever alone, for one step.\\'\\'\\'
import numpy as np


class Probe:
    def __init__(self):
        self.t = 0

    def act(self, obs):
        action = np.zeros(2)
        action[self.t % 2] = 1.0
        self.t += 1
        return action

    def report(self, trajectory):
        seen, lines = trajectory["observations"], []
        for lever in (0, 1):
            change = seen[lever + 1] - seen[lever]
            needle = int(np.argmax(np.abs(change)))
            lines.append(f"lever {lever} moves needle {needle} by {change[needle]:+.2f}")
        return "\\\\n".join(lines)
```"""
POLICY = """```python
import numpy as np

MOVES = %r


class Policy:
    def act(self, obs):
        action = np.zeros(2)
        for lever, needle, by in MOVES:
            action[lever] = np.clip(-obs[needle] / by, -1.0, 1.0)
        return action
```"""
if "class `Probe`, which acts" in text:
    print(PROBE)
else:
    found = re.findall(r"lever (\\d) moves needle (\\d) by ([+-][\\d.]+)", text)
    moves = [(int(a), int(b), float(c)) for a, b, c in found[:2]]
    print(POLICY % (moves or [(0, 0, 0.3), (1, 1, 0.3)],))
'''


@pytest.fixture(scope="module")
def levers_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One round with one policy by a program that knows only what the prompt says."""
    folder = tmp_path_factory.mktemp("levers_run")
    (folder / "model.py").write_text(GUESSES)
    few = {"rounds": 1, "candidates": 1, "episodes": 2, "validation_episodes": 2, "test_episodes": 2}
    return promptpo.optimize(
        LEVERS,
        model=f"exec:{sys.executable} {folder / 'model.py'}",
        out=folder / "run",
        recipe_options={"feedback_class": False, "tune": False},
        jobs=1,
        **few,
    )


def test_report_informs_the_first_policy(levers_run: Any) -> None:
    """A policy that guesses the undocumented signs returns less than -200."""
    assert levers_run.mean_return > -30


def test_experiments_are_counted_shown_and_reported(
    levers_run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert levers_run.data["steps"]["probe"] == 500  # ten episodes of 50 steps
    assert not (levers_run.directory / AWAITING_FEEDBACK).exists()
    assert command_line(["show", str(levers_run.directory)]) == 0
    assert (
        "p0.1: Each lever alone, for one step. (10 episodes, 500 steps; reported" in capsys.readouterr().out
    )
    assert command_line(["show", str(levers_run.directory), "p0.1"]) == 0
    assert "lever 1 moves needle 0 by -0.30" in (shown := capsys.readouterr().out)
    assert "class Probe" in shown
    assert command_line(["show", str(levers_run.directory), "p0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 500
    page = write_report(levers_run.directory, episode=False).read_text()
    assert 'id="experiments"' in page
    assert "lever 1 moves needle 0 by -0.30" in page
