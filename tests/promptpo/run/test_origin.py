"""Runs from elsewhere can be inspected, but execute nothing without the user's trust."""

import json
import shlex
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import promptpo
from promptpo.api import resume_session
from promptpo.cli.app import run
from promptpo.core.config import Config
from promptpo.envs.spaces import space_as_json
from promptpo.envs.task import Task, Variant, Wrapping
from promptpo.errors import UsageError
from promptpo.files import write_atomically
from promptpo.run.config_file import CONFIG, load_config
from promptpo.run.origin import ORIGIN, asks, builds, is_builtin, is_made_here, key_path, save_own
from promptpo.run.state import read_state
from tests.promptpo.cli.test_command_line import QUICK, environment
from tests.promptpo.cli.test_command_line import promptpo as command

MODULE = """
from pathlib import Path
from typing import ClassVar
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

Path({trace!r}).touch()
gymnasium.register("Theirs-v0", entry_point=CartPoleEnv, max_episode_steps=20)
"""
MODEL = """
import pathlib, sys
pathlib.Path({trace!r}).touch()
print("```python\\nclass Policy:\\n    def act(self, obs):\\n        return int(obs[2] > 0)\\n```")
"""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A finished run with a module and a command of its own, made on another machine."""
    home = tmp_path_factory.mktemp("theirs")
    trace = home / "trace"
    (home / "their_env.py").write_text(MODULE.format(trace=str(trace)))
    (home / "model.py").write_text(MODEL.format(trace=str(trace)))
    model = f"exec:{shlex.quote(sys.executable)} {home / 'model.py'}"
    done = command(
        "optimize", "their_env:Theirs-v0", *QUICK, "--model", model, "--out", "run", "--no-film", "--allow-weaker-sandbox",
        cwd=home, XDG_STATE_HOME=str(home / "state"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shutil.copy(home / "their_env.py", home / "run" / "their_env.py")
    return home


@pytest.fixture
def foreign(theirs: Any, tmp_path: Path) -> Any:
    """A copy of that run as received here, and the file that its code would create."""
    shutil.copytree(theirs / "run", tmp_path / "run")
    trace = theirs / "trace"
    trace.unlink(missing_ok=True)
    return tmp_path / "run", trace


def test_signature_identifies_own_unchanged_runs(tmp_path: Path) -> None:
    """The key is readable by its owner only; a changed or unsigned configuration is foreign."""
    config = Config(Task("CartPole-v1"), model="search")
    assert save_own(config, tmp_path)
    assert is_made_here(tmp_path)
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
    path = tmp_path / CONFIG
    before = path.read_text()
    path.write_text(before.replace("search", "exec:true"))
    assert not is_made_here(tmp_path)
    path.write_text(before)
    (tmp_path / ORIGIN).write_text("00" * 32 + "\n")
    assert not is_made_here(tmp_path)
    (tmp_path / ORIGIN).unlink()
    assert not is_made_here(tmp_path)


def test_kill_between_signature_and_configuration_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The existing configuration stays valid until the new one is written."""
    save_own(Config(Task("CartPole-v1")), tmp_path)

    def killed(path: Path, text: str) -> None:
        if path.name == CONFIG:
            raise KeyboardInterrupt
        write_atomically(path, text)

    monkeypatch.setattr("promptpo.run.origin.write_atomically", killed)
    with pytest.raises(KeyboardInterrupt):
        save_own(Config(Task("CartPole-v1"), seed=1), tmp_path)
    assert is_made_here(tmp_path)


def test_unwritable_key_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run goes on unsigned."""
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert run(["optimize", "CartPole-v1", *QUICK, "--model", "search", "--out", "run", "--no-film"]) == 0
    assert "cannot be signed" in capsys.readouterr().err


def test_concurrent_processes_create_one_key(tmp_path: Path) -> None:
    code = "from promptpo.run.origin import _key; print(_key(create=True).hex())"
    import os

    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(3)
    ]
    assert len({process.communicate()[0] for process in running}) == 1
    assert [path.name for path in (tmp_path / "promptpo").iterdir()] == ["key"]


INSPECTIONS = [
    ["show", "."],
    ["show", ".", "best"],
    ["list", "."],
    ["compare", ".", ".", "-o", "compare.html"],
    ["report", ".", "--no-film", "--out", "../report.html"],
    ["export", ".", "-o", "policy.py"],
    ["export", ".", "r1c1"],
    ["report", ".", "--out", "../report.html"],
]
RUN_EACH = "import json, sys; from promptpo.cli.app import run; print([run(words) for words in json.loads(sys.argv[1])])"


@pytest.mark.slow
def test_inspecting_a_foreign_run_imports_and_starts_nothing(foreign: Any) -> None:
    """This holds inside its directory too; exporting a file that would import the module requires trust."""
    directory, trace = foreign
    done = subprocess.run(
        [sys.executable, "-c", RUN_EACH, json.dumps(INSPECTIONS)],
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    refused = [2 * (words[0] == "export") for words in INSPECTIONS]
    assert done.stdout.splitlines()[-1] == str(refused), done.stderr
    assert not trace.exists()
    assert "--trust" in done.stderr
    assert "--trust" in (directory.parent / "report.html").read_text()


@pytest.mark.slow
def test_resuming_a_foreign_run_requires_trust(foreign: Any) -> None:
    """Given once, it makes the run the user's."""
    directory, trace = foreign
    refused = command("resume", ".", "--rounds", "2", "--no-film", cwd=directory)
    assert refused.returncode == 2
    assert "imports the module their_env" in refused.stderr
    assert "asks exec:" in refused.stderr
    assert "--trust" in refused.stderr
    assert not trace.exists()
    done = command("resume", ".", "--rounds", "2", "--no-film", "--trust", cwd=directory)
    assert done.returncode == 0, done.stderr
    assert trace.exists()
    assert "imports the module their_env" in done.stderr
    assert is_made_here(directory)
    assert not load_config(directory / CONFIG).allow_weaker_sandbox
    assert command("resume", ".", "--rounds", "3", "--no-film", cwd=directory).returncode == 0


@pytest.mark.slow
def test_film_of_a_foreign_run_requires_trust(foreign: Any) -> None:
    directory, trace = foreign
    done = command("report", ".", "--trust", "--out", "../report.html", cwd=directory)
    assert done.returncode == 0, done.stderr
    assert "imports the module their_env" in done.stderr
    assert trace.exists()


@pytest.mark.parametrize(
    ("own", "flag", "allowed"), [(False, False, False), (False, True, True), (True, False, True)]
)
def test_foreign_run_cannot_accept_a_weaker_sandbox(
    foreign: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool, flag: bool, allowed: bool
) -> None:
    from promptpo.output.report import episode, page

    directory, _ = foreign
    if own:
        save_own(load_config(directory / CONFIG), directory)
    seen = []
    monkeypatch.setattr(
        episode, "show_episode", lambda *_, allow_weaker, **__: seen.append(allow_weaker) or "none"
    )
    page.write_report(directory, out=tmp_path / "r.html", trust=True, allow_weaker_sandbox=flag)
    assert seen == [allowed]


def test_loading_a_foreign_policy_requires_trust(foreign: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless its environment is named by the user, Gymnasium's own, or of a run made here."""
    directory, trace = foreign
    monkeypatch.chdir(directory)
    with pytest.raises(UsageError, match="imports the module their_env"):
        promptpo.load_policy(directory)
    assert not trace.exists()
    save_own(load_config(directory / CONFIG), directory)
    with promptpo.load_policy(directory) as policy:
        assert policy.action_space.n == 2
    text = (directory / "best.py").read_text().replace("their_env:Theirs-v0", "other_env:Theirs-v0")
    (directory / "best.py").write_text(text)
    with promptpo.load_policy(directory) as policy:  # a file inside a run uses the run's environment
        assert policy.action_space.n == 2
    (directory.parent / "best.py").write_text(text)
    with pytest.raises(UsageError, match="imports the module other_env"):
        promptpo.load_policy(directory.parent / "best.py")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["evaluate", "--episodes", "1"], ["play", "--video", "film.gif"]])
def test_playing_a_foreign_policy_requires_trust(
    foreign: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With trust, the import is announced first."""
    directory, trace = foreign
    name, *flags = arguments
    shutil.copy(directory / "best.py", directory / "policy.py")
    monkeypatch.chdir(directory)
    for policy in (".", "best.py", "policy.py"):
        assert run([name, policy, *flags]) == 2
        err = capsys.readouterr().err
        assert "imports the module their_env" in err
        assert "--trust" in err
        assert "--env" in err
    assert not trace.exists()
    done = command(name, "policy.py", *flags, "--trust", cwd=directory)
    assert done.returncode == 0, done.stderr
    assert "playing policy.py imports the module their_env" in done.stderr
    assert trace.exists()


def test_evaluating_a_foreign_run_from_python_requires_trust(
    foreign: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless its environment is Gymnasium's own or the run was made here."""
    directory, trace = foreign
    monkeypatch.chdir(directory)
    monkeypatch.syspath_prepend(str(directory))
    with pytest.raises(UsageError, match=r"imports the module their_env.*trust=True"):
        promptpo.evaluate(directory, episodes=1)
    assert not trace.exists()
    save_own(load_config(directory / CONFIG), directory)
    assert promptpo.evaluate(directory, episodes=1).evaluation.outcome == "ok"
    (directory / ORIGIN).unlink()
    text = (directory / "best.py").read_text().replace("their_env:Theirs-v0", "CartPole-v1")
    (directory / "policy.py").write_text(text)
    assert promptpo.evaluate(directory / "policy.py", episodes=1).env_id == "CartPole-v1"


def test_every_model_of_a_run_is_named() -> None:
    """With the command, recording or address that it uses."""
    plain = Config(Task("CartPole-v1"))
    assert asks(plain) == ""
    several = replace(plain, models=("exec:sh theirs.sh", "openai:any", "replay:old"))
    assert asks(several) == "asks exec:sh theirs.sh and openai:any and replay:old"
    with_url = replace(several, base_url="http://x/v1")
    assert asks(with_url) == f"{asks(several)} at http://x/v1 with your key, if one is set"
    assert "at http://x/v1 with your key" in asks(replace(plain, base_url="http://x/v1"))
    assert asks(replace(plain, model="search", repair_model="exec:fix")) == "asks exec:fix"
    assert (
        asks(replace(plain, model="openai:a", repair_model="anthropic:b")) == "asks openai:a and anthropic:b"
    )


def test_wrappers_and_variants_require_trust(foreign: Any) -> None:
    """They are imported like the environment itself."""
    plain = Task("CartPole-v1")
    wrapped = replace(plain, wrappers=(Wrapping("their_wrappers:Wrap"), Wrapping("ClipAction")))
    family = replace(plain, variants=(Variant(), Variant(env_id="other_env:Other-v0")))
    assert is_builtin(plain)
    assert not is_builtin(wrapped)
    assert not is_builtin(family)
    assert not plain.modules
    assert "imports the module their_wrappers for" in builds(wrapped)
    assert replace(family, wrappers=wrapped.wrappers).modules == ("their_wrappers", "other_env")
    directory, trace = foreign
    text = (directory / "best.py").read_text().replace("their_env:Theirs-v0", "CartPole-v1")
    policy = directory.parent / "policy.py"
    policy.write_text(text)
    with promptpo.load_policy(policy) as loaded:
        assert loaded.action_space.n == 2
    policy.write_text(text + '\n    parser.add_argument("--wrapper", default=["their_env:Wrap"])\n')
    with pytest.raises(UsageError, match="imports the module their_env"):
        promptpo.load_policy(policy)
    assert not trace.exists()


def test_run_is_exported_without_importing_its_environment(foreign: Any) -> None:
    """The recorded action space suffices."""
    directory, trace = foreign
    assert read_state(directory).action_space == space_as_json(gymnasium.spaces.Discrete(2))
    with pytest.raises(UsageError, match="was not made here"):
        promptpo.export(directory)
    for allowed in ({"trust": True}, {"env_id": "CartPole-v1"}):
        assert "return int(np.asarray(action).item())" in promptpo.export(directory, **allowed)
    assert not trace.exists()


@pytest.mark.parametrize(
    "table", ["[resume]\ntrust = true", '[resume]\nbase-url = "http://x"', "[report]\ntrust = true"]
)
def test_configuration_file_cannot_grant_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    """Nor may it change the address that receives keys."""
    (tmp_path / "promptpo.toml").write_text(table)
    monkeypatch.chdir(tmp_path)
    assert run(["show", "."]) == 2
    assert "only be set on the command line" in capsys.readouterr().err


def test_defaults_inside_a_foreign_run_are_ignored(foreign: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, _ = foreign
    monkeypatch.chdir(directory)
    (directory / "promptpo.toml").write_text("[export]\noutput = 'planted.py'\n")
    assert run(["export", ".", "--trust"]) == 0
    assert not (directory / "planted.py").exists()
    save_own(load_config(directory / CONFIG), directory)
    assert run(["export", "."]) == 0
    assert (directory / "planted.py").exists()


def test_own_runs_need_no_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They may have been moved; the import of a module is announced."""
    (tmp_path / "my_own_env.py").write_text(MODULE.format(trace=str(tmp_path / "trace")))
    monkeypatch.chdir(tmp_path)
    words = ["optimize", "my_own_env:Theirs-v0", *QUICK, "--model", "search", "--out", "run", "--no-film"]
    assert run(words) == 0
    Path("run").rename("moved")
    capsys.readouterr()
    assert run(["resume", "moved", "--rounds", "2", "--no-film"]) == 0
    assert "resuming moved imports the module my_own_env" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("bare", ["env", "wrapper"])
def test_run_saved_without_parentheses_can_be_resumed(
    bare: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence says what to write and where."""
    here, out = "tests.promptpo.envs.lifts", tmp_path / "run"
    named = (
        [f"{here}:short_lift()"] if bare == "env" else [f"{here}:Lift", "--wrapper", f"{here}:half_reward()"]
    )
    assert run(["optimize", *named, *QUICK, "--model", "search", "--out", str(out), "--no-film"]) == 0
    config, with_parentheses = load_config(out / CONFIG), named[-1]
    task = replace(config.task, env_id=config.task.env_id.removesuffix("()"))
    task = replace(task, wrappers=tuple(Wrapping(each.name.removesuffix("()")) for each in task.wrappers))
    save_own(replace(config, task=task), out)
    capsys.readouterr()
    assert run(["resume", str(out), "--rounds", "3"]) == 2
    err = capsys.readouterr().err
    assert with_parentheses in err
    assert "config.toml" in err
    assert "--trust" in err
    text = (out / CONFIG).read_text()
    (out / CONFIG).write_text(text.replace(with_parentheses.removesuffix("()"), with_parentheses))
    assert run(["resume", str(out), "--rounds", "3", "--trust"]) == 0
    assert is_made_here(out)


def test_resumed_run_names_a_changed_address(tmp_path: Path) -> None:
    """The key is sent there."""
    save_own(Config(Task("CartPole-v1"), model="openai:any", base_url="http://old/v1"), tmp_path)
    warnings: list[str] = []
    observer: Any = promptpo.Observer()
    observer.warn = warnings.append
    resume_session(tmp_path, observer=observer, base_url="http://new/v1")
    assert ["http://new/v1" in line and "http://old" not in line for line in warnings] == [True]
