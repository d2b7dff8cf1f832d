"""Foreign runs leak nothing, and third-party tools write to the right places."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from promptpo.errors import UsageError
from promptpo.output.exporting import export_text
from promptpo.output.run_result import load_run
from promptpo.output.tracking.events import Tracker
from promptpo.run.config_file import load_config
from promptpo.run.origin import place_for, save_own

RECORDED = Path(__file__).parents[1] / "core" / "recorded" / "model"


class RecordingTracker(Tracker):
    """Remembers the file that would be uploaded."""

    policy: Path | None = None

    def open(self, directory: Path, parameters: Any) -> None:
        """Do nothing."""

    def log(self, metrics: Any, step: int, at: float) -> None:
        """Do nothing."""

    def close(self, policy: Path | None) -> None:
        """Remember the file."""
        self.policy = policy


def test_linked_policy_is_not_uploaded(tmp_path: Path) -> None:
    """A foreign best.py may link to a private file."""
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    private = tmp_path / "key"
    private.write_text("secret")
    sent = RecordingTracker()
    (run / "best.py").symlink_to(private)
    sent.on_finish(load_run(run))
    assert sent.policy is None
    (run / "best.py").unlink()
    (run / "best.py").write_text("x = 1\n")
    sent.on_finish(load_run(run))
    assert sent.policy == run / "best.py"


@pytest.mark.parametrize("client", ["wandb"])
def test_dashboard_writes_only_into_own_runs(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W&B keeps files in the folder that it is given."""
    from promptpo.output.tracking import clients

    given: list[Any] = []

    class Fake:
        def init(self, **how: Any) -> None:
            given.append(how["dir"])

    monkeypatch.setattr(clients, "_client", lambda *_: Fake())
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    clients.WandB("project").open(run, {})
    save_own(load_config(run / "config.toml"), run)
    clients.WandB("project").open(run, {})
    assert given == [None, str(run)]


def test_nothing_is_written_into_a_foreign_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is anything written through a link or over an existing file."""
    run = tmp_path / "run"
    run.mkdir()
    (tmp_path / "link").symlink_to(run)
    monkeypatch.chdir(tmp_path)
    assert place_for(run, "report.html", None, own=True) == run / "report.html"
    assert place_for(run, "report.html", None, own=False).resolve() == tmp_path / "report.html"
    for out in (run / "x.html", Path("link/x.html"), Path("run/deep/x.html")):
        with pytest.raises(UsageError, match="nothing is written into it"):
            place_for(run, "report.html", out, own=False)
    (tmp_path / "report.html").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="already"):
        place_for(run, "report.html", None, own=False)
    monkeypatch.chdir(run)
    with pytest.raises(UsageError, match="nothing is written into it"):
        place_for(run, "report.html", None, own=False)


@pytest.mark.parametrize("name", ["journal.jsonl", "config.toml", "result.json"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "device"])
def test_special_files_in_a_run_are_rejected(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links, pipes, folders and devices must not be read, written or waited for."""
    from promptpo.cli.app import run as command

    run, here = tmp_path / "run", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    shutil.copytree(RECORDED, run)
    file = run / name
    other = tmp_path / "other"
    shutil.move(file, other)
    before = other.read_bytes()
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(other if kind == "link" else "/dev/zero")
    for arguments in (["show"], ["report", "--no-film"], ["export"], ["resume", "--trust"], ["list"]):
        code = command([arguments[0], str(run if arguments[0] != "list" else tmp_path), *arguments[1:]])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        assert code in {0, 1, 2}
    assert other.read_bytes() == before


def test_gate_checks_the_exported_text() -> None:
    """Renaming and inlining happen before the check."""
    from promptpo.output import exporting
    from tests.promptpo.output.test_export import provenance

    seen: list[str] = []
    real = exporting.check_gate
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "check_gate", lambda source: (seen.append(source), real(source)))
        source = "from looking import grey\n\n\nclass Policy:\n    def act(self, obs):\n        return 0 * len(grey(obs))\n"
        text = export_text(source, provenance("CartPole-v1"), action_space=gymnasium.spaces.Discrete(2))
    assert seen[-1] in text
    assert "from looking" not in seen[-1]


@pytest.mark.parametrize("name", ["policies", "pictures", "untold"])
def test_linked_folder_is_rejected(name: str, tmp_path: Path) -> None:
    """Files written into a run's folders must stay in the run."""
    from promptpo.files import make_folder

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / name).symlink_to(elsewhere)
    with pytest.raises(OSError, match="link"):
        make_folder(tmp_path / name)
    make_folder(tmp_path / "run" / name)
    assert (tmp_path / "run" / name).is_dir()


def test_foreign_training_requires_trust(tmp_path: Path) -> None:
    """Resuming unpickles its files, from Python and from the command line."""
    if importlib.util.find_spec("stable_baselines3") is None:
        pytest.skip("needs stable-baselines3")
    from promptpo.cli.app import run as command
    from promptpo.envs.task import Task
    from promptpo.run.origin import ORIGIN, SETTINGS
    from promptpo_baselines.progress import Display
    from promptpo_baselines.settings import TrainingSettings, save_settings
    from promptpo_baselines.training import prepare, train

    settings = TrainingSettings("ppo", Task("CartPole-v1"), steps=10)
    save_settings(settings, tmp_path)
    prepare(settings, tmp_path, resume=True)
    (tmp_path / ORIGIN).unlink()
    with pytest.raises(UsageError, match="can run any code"):
        train(settings, tmp_path, resume=True, display=Display())
    resume = ["baseline", "ppo", "CartPole-v1", "--steps", "10", "--out", str(tmp_path), "--resume"]
    assert command(resume) == 2
    assert [path.name for path in tmp_path.iterdir()] == [SETTINGS]
    prepare(settings, tmp_path, resume=True, trust=True)


@pytest.mark.parametrize("kind", ["link", "pipe", "device", "huge"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "{}", "--env", "CartPole-v1"],
        ["play", "{}", "--video", "x.gif", "--env", "CartPole-v1"],
        ["refine", "{}", "--steps", "10"],
        ["optimize", "CartPole-v1", "--estimate", "--start", "{}"],
        ["optimize", "CartPole-v1", "--estimate", "--model", "replay:{}"],
        ["inbox", "{}"],
    ],
    ids=lambda arguments: arguments[-1] if arguments[0] == "optimize" else arguments[0],
)
def test_special_files_as_input_are_rejected(
    kind: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Links, pipes, devices and huge files must cause an error at once and leak nothing."""
    from promptpo.cli.app import run as command

    folder, private = tmp_path / "theirs", tmp_path / "private"
    folder.mkdir()
    private.write_text("secret = 17 (\n")
    prompt = {"run": "r", "call": "c", "purpose": "policy", "digest": "", "asked": 0.0}
    (folder / ".0002.json").write_text(json.dumps(prompt))
    for name in ("best.py", ".0001.json", "0001.md", "0002.md", "0002.answer.md", "one.txt"):
        file = folder / name
        if kind == "pipe":
            os.mkfifo(file)
        elif kind == "huge":
            with file.open("wb") as made:
                made.truncate(3 << 30)
        else:
            file.symlink_to(private if kind == "link" else "/dev/zero")
    monkeypatch.chdir(tmp_path)
    code = command([word.format(folder) for word in arguments])
    captured = capsys.readouterr()
    assert code in ({0, 2} if arguments[0] == "inbox" else {2}), captured.err
    assert "Traceback" not in captured.err
    assert "secret" not in captured.out + captured.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["private", "theirs"]
