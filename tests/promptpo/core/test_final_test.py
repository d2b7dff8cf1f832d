"""The final test: its number of episodes, and partial results if the environment fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run as run_command
from promptpo.core import final_test
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
def test_number_of_test_episodes_depends_on_their_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is decided once per run from the first episodes; an explicit number is kept."""
    monkeypatch.setattr(final_test, "TEST_SECONDS", 1e6)  # fast enough on a busy machine
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
    explicit = optimize(Model(default=GOOD), tmp_path / "explicit", **FEW, test_episodes=12, jobs=1)
    assert explicit.data["test"]["episodes"] == 12
    state = read_state(explicit.directory)
    assert state.test is not None
    assert list(state.test.returns) == explicit.data["test"]["returns"]


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
def test_environment_fault_keeps_earlier_results(
    env: list[str], tested: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The best policy is exported with the test episodes played before the fault."""
    out, (name, *more) = tmp_path / "run", env
    quick = [
        "--max-steps", "1500", "--rounds", "1", "--tune", "none", "--test-episodes", "20", "--jobs", "1",
        "--no-check",
    ]  # fmt: skip
    start = ["--start", str(tmp_path / "turns.py")]
    (tmp_path / "turns.py").write_text(
        "class Policy:\n    n = 0\n    def act(self, obs):\n        self.n += 1\n        return self.n % 2\n"
    )
    line = ["optimize", f"{BUGGY}:{name}", *more, "--model", "search", *quick, *start, "--out", str(out)]
    assert run_command(line) == 1
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert f"in {'reset' if more else 'step'})" in captured.out  # where it failed
    result = json.loads((out / "result.json").read_text())
    assert result["stop_kind"] == "fault"
    assert (result["test"] or {}).get("episodes") == tested
    assert "promptpo resume" in result["verdict"] or tested == 20
    assert (out / "best.py").exists()
    assert run_command(["export", str(out), "-o", str(tmp_path / "again.py")]) == 0
    assert run_command(["resume", str(out), "--quiet"]) == 1
    assert json.loads((out / "result.json").read_text())["stop_kind"] == "fault"


def test_fault_before_any_policy_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to report or export."""
    line = f"optimize {BUGGY}:LateReset --model search --rounds 1 --max-steps 1500 --jobs 1".split()
    assert run_command([*line, "--env-kwargs", '{"first": 200}', "--out", str(tmp_path / "run")]) == 1
    captured = capsys.readouterr().err
    assert "Traceback" not in captured
    assert "RuntimeError: the rig did not answer" in captured.strip().splitlines()[-1]
    assert not (tmp_path / "run" / "result.json").exists()
