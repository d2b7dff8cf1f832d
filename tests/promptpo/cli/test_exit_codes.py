"""The exit code of each command for each kind of mistake, as docs/guides/configuration.md lists them."""

from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import CRASH, WEAK

BUGGY = "tests.promptpo.cli.buggy_environments:Buggy"
CODE = "class Policy:\n    def act(self, obs):\n        return 0\n"
FAILING = "class Policy:\n    def act(self, obs):\n        return obs[99]\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with a finished run, a failed one, one that has only begun, and policies."""
    path: Any = tmp_path_factory.mktemp("codes")
    optimize(Model(default=WEAK), path / "run", rounds=1, candidates=1, test_episodes=3)
    optimize(Model(default=CRASH), path / "failed", rounds=1, candidates=1, repairs=0)
    (path / "begun").mkdir()
    for name in ("config.toml", "origin", "journal.jsonl"):
        (path / "begun" / name).write_bytes((path / "run" / name).read_bytes())
    (path / "empty").mkdir()
    (path / "fine.py").write_text(CODE)
    (path / "failing.py").write_text(FAILING)
    (path / "notes.py").write_text("print('no policy')\n")
    (path / "agent.zip").write_bytes(b"no agent")
    return path


WRONG = [
    "optimize", "optimize NoSuch-v0", "optimize CartPole-v1 --rounds 0", "optimize CartPole-v1 --rounds many",
    "optimize CartPole-v1 --no-such-flag", "optimize CartPole-v1 --recipe soup", "optimize CartPole-v1 --env-kwargs [1",
    "optimize CartPole-v1 --model nobody:x", "optimize CartPole-v1 --model search --start none.py",
    "optimize CartPole-v1 --model search --start notes.py", "optimize CartPole-v1 --model search --start failing.py",
    "optimize Acrobot-v1 --model search --start run", "optimize CartPole-v1 --model search --teacher none.zip",
    "optimize CartPole-v1 --model search --teacher agent.zip", "optimize CartPole-v1 --model search --spec none.py",
    "optimize CartPole-v1 --model search --out run", "optimize CartPole-v1 --model search --track nowhere:x",
    "resume none", "resume empty", "resume run --rounds 0",
    "show none", "show empty", "show fine.py", "show run r9c9",
    "export none", "export run r9c9", "export begun", "export run -o none/policy.py",
    "evaluate none.py", "evaluate none.py --env CartPole-v1", "evaluate empty", "evaluate fine.py",
    "evaluate fine.py --env NoSuch-v0", "evaluate fine.py --env CartPole-v1 --episodes 0",
    "play none.py --env CartPole-v1", "play fine.py", "play fine.py --env CartPole-v1 --video film.xyz",
    "report none", "report empty", "report run --port 80", "report none --live",
    "list none", "compare run", "compare run none", "compare run empty", "compare run run -o none/page.html",
    "track none --to monitor:m.csv", "track run --to nowhere:x", "track begun --to monitor:m.csv",
    "spec NoSuch-v0", "spec CartPole-v1 --check none.py", "spec CartPole-v1 -o none/spec.py",
    "inbox --answer 3",
    "baseline", "baseline nobody CartPole-v1", "baseline random NoSuch-v0", "baseline random CartPole-v1 --seed x",
    "refine none", "refine empty", "refine notes.py --env CartPole-v1", "refine fine.py",
    "benchmark nosuch", "benchmark classic --methods nobody", "benchmark classic --seeds 0",
]  # fmt: skip
"""Flags, names and files that cannot be used as given."""

FAILED = [
    f"optimize {BUGGY}/StepBug-v0 --model search",
    f"spec {BUGGY}/StepBug-v0",
    "optimize CartPole-v1 --model anthropic:claude-x",
    "export failed",
    "show failed best",
    "evaluate failing.py --env CartPole-v1",
    "play failing.py --env CartPole-v1 --video film.gif",
    f"evaluate fine.py --env {BUGGY}/NaNReward-v0",
]
"""Runs or policies that fail: nothing ran, the environment broke, a key is missing, no return is finite."""


OUT = [
    "optimize CartPole-v1 --model search", "optimize CartPole-v1 --model search --seeds 2", "demo",
    "baseline random CartPole-v1", "baseline ppo CartPole-v1 --max-steps 100",
    "baseline llm-policy CartPole-v1 --network mlp", "refine fine.py --env CartPole-v1 --max-steps 100", "benchmark quick",
]  # fmt: skip
"""Commands that write a folder."""


@pytest.mark.parametrize(
    ("line", "out"),
    [
        *((line, out) for line in OUT for out in ("fine.py", "fine.py/run")),
        *(("baseline random CartPole-v1", out) for out in ("fine.py/runs/run", "./fine.py")),
    ],
)
def test_file_in_place_of_the_output_folder_is_refused(
    folder: Any, line: str, out: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is named and left unchanged."""
    monkeypatch.chdir(folder)
    before = _files(folder)
    assert run([*line.split(), "--out", out]) == 2
    assert "fine.py is a file" in capsys.readouterr().err
    assert _files(folder) == before


@pytest.mark.parametrize(("line", "code"), [*((line, 2) for line in WRONG), *((line, 1) for line in FAILED)])
def test_mistakes_have_the_documented_exit_code(
    folder: Any, line: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is one sentence on standard error, no traceback, and no new file."""
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.chdir(folder)
    before = _files(folder)
    assert run(line.split()) == code
    captured = capsys.readouterr()
    last = (
        captured.err.strip().splitlines()[-1]
        if captured.err.strip()
        else captured.out.strip().splitlines()[-1]
    )
    assert last
    assert "Traceback" not in captured.err
    assert _files(folder) == before


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in str(path)}
