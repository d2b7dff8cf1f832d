"""Nothing of a stranger's run leaks out, and third-party tools write where they should."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from promptpo.errors import UsageError
from promptpo.output.exporting import export_text
from promptpo.output.run_result import load_run
from promptpo.output.tracking.events import Tracker
from promptpo.run.config_file import load_config
from promptpo.run.origin import place_for, save_own

RECORDED = Path(__file__).parents[1] / "core" / "recorded" / "model"


class Sent(Tracker):
    """Notes which file would be sent."""

    policy: Path | None = None

    def open(self, directory: Path, parameters: Any) -> None:
        """Nothing."""

    def log(self, metrics: Any, step: int, at: float) -> None:
        """Nothing."""

    def close(self, policy: Path | None) -> None:
        """Keep it."""
        self.policy = policy


def test_a_link_is_not_sent_as_the_policy(tmp_path: Path) -> None:
    """A stranger's best.py that is a link to a private file reaches no dashboard; a file of its own does."""
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    private = tmp_path / "key"
    private.write_text("secret")
    sent = Sent()
    (run / "best.py").symlink_to(private)
    sent.on_finish(load_run(run))
    assert sent.policy is None
    (run / "best.py").unlink()
    (run / "best.py").write_text("x = 1\n")
    sent.on_finish(load_run(run))
    assert sent.policy == run / "best.py"


@pytest.mark.parametrize("client", ["wandb"])
def test_a_dashboard_writes_beside_a_run_of_ones_own_only(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W&B keeps files in the folder that it is given: never a stranger's."""
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


def test_a_strangers_run_has_no_place_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by default, nor when one stands in it, nor through a link, nor over a file that is there."""
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
def test_files_that_are_none(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links, pipes, folders and devices in the place of a run's files: one sentence, at once, nothing read or written."""
    import os

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
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        assert code in {0, 1, 2}
    assert other.read_bytes() == before


def test_what_is_exported_passes_the_gate_as_it_is_written() -> None:
    """Names that are given anew, and pieces that are put in, are behind the gate as well."""
    from promptpo.output import exporting
    from tests.promptpo.output.test_export import provenance

    seen: list[str] = []
    real = exporting.check_gate
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "check_gate", lambda source: (seen.append(source), real(source)))
        source = "from looking import grey\n\n\nclass Policy:\n    def act(self, obs):\n        return 0 * len(grey(obs))\n"
        import gymnasium

        text = export_text(source, provenance("CartPole-v1"), action_space=gymnasium.spaces.Discrete(2))
    assert seen[-1] in text
    assert "from looking" not in seen[-1]


@pytest.mark.parametrize("name", ["policies", "pictures", "untold"])
def test_a_folder_that_is_a_link_is_none(name: str, tmp_path: Path) -> None:
    """What is written into folders of a run stays in it."""
    from promptpo.files import make_folder

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / name).symlink_to(elsewhere)
    with pytest.raises(OSError, match="link"):
        make_folder(tmp_path / name)
    make_folder(tmp_path / "run" / name)
    assert (tmp_path / "run" / name).is_dir()


def test_a_strangers_training_is_not_loaded_without_trust(tmp_path: Path) -> None:
    """What it has saved would be unpickled: only who trusts it goes on with it, from Python as by a command."""
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
    asked = ["baseline", "ppo", "CartPole-v1", "--steps", "10", "--out", str(tmp_path), "--resume"]
    assert command(asked) == 2
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
def test_policies_questions_and_answers_that_are_none(
    kind: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A stranger's folder whose files are links, pipes, devices or too large: one sentence, at once, nothing of mine told."""
    import os

    from promptpo.cli.app import run as command

    folder, private = tmp_path / "theirs", tmp_path / "private"
    folder.mkdir()
    private.write_text("secret = 17 (\n")
    asked = {"run": "r", "call": "c", "purpose": "policy", "digest": "", "asked": 0.0}
    (folder / ".0002.json").write_text(json.dumps(asked))
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
    said = capsys.readouterr()
    assert code in ({0, 2} if arguments[0] == "inbox" else {2}), said.err
    assert "Traceback" not in said.err
    assert "secret" not in said.out + said.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["private", "theirs"]
