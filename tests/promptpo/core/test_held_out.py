"""Of how many episodes the final test is, and what is left of it where the environment fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run as run_command
from promptpo.core import held_out as final_test
from promptpo.run.state import read_state
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import GOOD

FEW: dict[str, Any] = {
    "rounds": 1,
    "candidates": 1,
    "tune": "none",
    "stop_at": None,
    "max_episode_steps": 10,
}


@pytest.mark.slow
def test_a_slow_policy_plays_as_many_test_episodes_as_time_pays_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its first test episodes took decides, once in a run; a number that the user names stays."""
    monkeypatch.setattr(final_test, "TEST_SECONDS", 1e6)  # quick enough, however busy the machine is
    run = optimize(Model(default=GOOD), tmp_path / "quick", **FEW, test_episodes=None)
    assert run.data["test"]["episodes"] == 100
    assert run.data["test_plan"] == {"episodes": 100, "of": 100, "words": []}
    monkeypatch.setattr(final_test, "TEST_SECONDS", 0.0)
    slow = optimize(Model(default=GOOD), tmp_path / "slow", **FEW, test_episodes=None, jobs=1)
    assert slow.data["test"]["returns"] == run.data["test"]["returns"][:10]
    (words,) = slow.data["test_plan"]["words"]
    assert "10 instead of 100 episodes" in words
    assert "--test-episodes 100 plays them all" in words
    assert words[1:] in (slow.directory / "report.html").read_text()
    asked = optimize(Model(default=GOOD), tmp_path / "asked", **FEW, test_episodes=12, jobs=1)
    assert asked.data["test"]["episodes"] == 12
    state = read_state(asked.directory)
    assert state.test is not None
    assert list(state.test.returns) == asked.data["test"]["returns"]


BUGGY = "tests.promptpo.cli.buggy_environments"
FIRST_TEST_SEED = 20_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "tested"),
    [
        (["LateReset", "--env-kwargs", json.dumps({"first": FIRST_TEST_SEED + 10})], 10),
        (["LateReset", "--env-kwargs", json.dumps({"first": FIRST_TEST_SEED})], None),
        (["LateBug"], 20),
    ],
)
def test_a_fault_leaves_what_was_found_before_it(
    env: list[str], tested: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the test, in its first episodes, in the search: the best is reported with what was played of its test, and exported."""
    out, (name, *more) = tmp_path / "run", env
    quick = [
        "--max-steps",
        "1500",
        "--rounds",
        "1",
        "--tune",
        "none",
        "--test-episodes",
        "20",
        "--jobs",
        "1",
        "--no-check",
    ]
    start = ["--start", str(tmp_path / "turns.py")]
    (tmp_path / "turns.py").write_text(
        "class Policy:\n    n = 0\n    def act(self, obs):\n        self.n += 1\n        return self.n % 2\n"
    )
    line = ["optimize", f"{BUGGY}:{name}", *more, "--model", "search", *quick, *start, "--out", str(out)]
    assert run_command(line) == 1
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert f"in {'reset' if more else 'step'})" in said.out  # where it failed
    result = json.loads((out / "result.json").read_text())
    assert result["stop_kind"] == "fault"
    assert (result["test"] or {}).get("episodes") == tested
    assert "promptpo resume" in result["verdict"] or tested == 20
    assert (out / "best.py").exists()
    assert run_command(["export", str(out), "-o", str(tmp_path / "again.py")]) == 0
    assert run_command(["resume", str(out), "--quiet"]) == 1
    assert json.loads((out / "result.json").read_text())["stop_kind"] == "fault"


def test_nothing_is_reported_where_a_fault_leaves_no_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then it is told in one sentence."""
    line = f"optimize {BUGGY}:LateReset --model search --rounds 1 --max-steps 1500 --jobs 1".split()
    assert run_command([*line, "--env-kwargs", '{"first": 200}', "--out", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "RuntimeError: the rig did not answer" in said.strip().splitlines()[-1]
    assert not (tmp_path / "run" / "result.json").exists()
