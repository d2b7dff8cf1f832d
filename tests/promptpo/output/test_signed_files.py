"""A signed file vouches only for what its digests cover; nothing else beside it runs without trust."""

import contextlib
import importlib.util
import marshal
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import promptpo
from promptpo.api import resume_session
from promptpo.cli.app import run as command_line
from promptpo.core.config import Config
from promptpo.envs import importing
from promptpo.envs.building import make_env
from promptpo.envs.task import Task, Wrapping
from promptpo.errors import UsageError
from promptpo.output.exporting import Provenance, export_text
from promptpo.output.observer import Observer
from promptpo.output.policy_file import file_and_task
from promptpo.run.origin import digests, save_own, sign

POLICY = "class Policy:\n    def act(self, obs):\n        return 0\n"

ENV = """
import gymnasium
import own_helper
from own_maps.grid import LENGTH
try:
    import own_optional
except ImportError:
    pass

class Env(gymnasium.Wrapper):
    def __init__(self):
        import own_late
        super().__init__(gymnasium.make("CartPole-v1", max_episode_steps=LENGTH))
"""
WRAP = "import gymnasium\nimport own_helper\n\nclass Wrap(gymnasium.Wrapper):\n    pass\n"
FILES = {
    "own_env.py": ENV,
    "own_wrap.py": WRAP,
    "own_helper.py": "import own_deeper",
    "own_deeper.py": "",
    "own_late.py": "LATE = 1",
    "own_maps/grid.py": "LENGTH = 20",
    "own_kit/__init__.py": "from . import tools",
    "own_kit/tools.py": "TOOLS = 2",
    "own_kit/inside.py": f"from . import tools\n{ENV}",
}
"""A user's project: an environment, alone and in a package, a wrapper, and the modules that they import."""

KINDS = {
    "file": ("./own_env.py:Env", "./own_wrap.py:Wrap"),
    "package": ("./own_kit/inside.py:Env", "./own_wrap.py:Wrap"),
    "module": ("own_env:Env", "own_wrap:Wrap"),
    "module of a package": ("own_kit.inside:Env", "own_wrap:Wrap"),
}
"""Ways to name the environment and its wrapper."""


def is_unused(name: str, kind: str) -> bool:
    """Return whether a file of the project is not imported for an environment named this way."""
    return name == "own_env.py" if "package" in kind else name.startswith("own_kit/")


@pytest.fixture(autouse=True)
def _fresh_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Import everything anew, like a new process."""
    forget_imports(monkeypatch)
    yield
    forget_imports(monkeypatch)


def forget_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget imported modules and their folders."""
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in importing._added])
    monkeypatch.setattr(importing, "_added", [])
    finders = [each for each in sys.meta_path if not isinstance(each, importing._CheckedFolder)]
    monkeypatch.setattr(sys, "meta_path", finders)
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's project folder, as the working directory."""
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    return folder


EXPORTED: dict[str, str] = {}
"""Signed policies by kind; their paths are relative, so that all project folders can share them."""


def export_signed(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a signed policy, as after a run that built the environment."""
    if kind not in EXPORTED:
        env_id, wrapper = KINDS[kind]
        task = Task(env_id, wrappers=(Wrapping(wrapper),)).validate()
        make_env(task).close()
        facts = Provenance(task, "search", "run", "r1c1", files=digests(task))
        EXPORTED[kind] = sign(export_text(POLICY, facts, action_space=gymnasium.spaces.Discrete(2)))
        forget_imports(monkeypatch)
    (folder / "policy.py").write_text(EXPORTED[kind])


def refusal_without_trust() -> str:
    """Return why the policy is not played without trust; empty if it is."""
    try:
        make_env(file_and_task("policy.py", None)[1]).close()
    except UsageError as refused:
        return str(refused)
    return ""


def change(path: Path, text: str) -> None:
    """Replace a file's text."""
    path.write_text(text)


def compile_beside(path: Path, text: str) -> None:
    """Keep the file, but put bytecode of another text beside it that claims to need no comparison."""
    code = compile(text, str(path), "exec")
    cached = Path(importlib.util.cache_from_source(str(path)))
    cached.parent.mkdir(exist_ok=True)
    cached.write_bytes(
        importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)
    )


def shadow(path: Path, text: str) -> None:
    """Keep the file, but put a package of the same name beside it, which Python imports instead."""
    path.with_suffix("").mkdir(exist_ok=True)
    (path.with_suffix("") / "__init__.py").write_text(text)


def attacks() -> Iterator[Any]:
    """Yield every imported file with each way to run other code instead, and files that did not exist.

    Every fourth is a default test, which covers each file, place and way.
    """
    cases = [
        (kind, name, attack)
        for kind in KINDS
        for name in (*FILES, "own_optional.py", "own_maps/__init__.py")
        for attack in (change, compile_beside, shadow)
        if not is_unused(name, kind)
        and (attack is change or (name in FILES and not (attack is shadow and name.endswith("__init__.py"))))
    ]
    for i, (kind, name, attack) in enumerate(cases):
        marks = [] if i % 4 == 0 else pytest.mark.slow
        yield pytest.param(kind, name, attack, id=f"{kind}-{name}-{attack.__name__}", marks=marks)


@pytest.mark.parametrize(("kind", "name", "attack"), attacks())
@pytest.mark.parametrize("place", ["there", "received"])
def test_unsigned_code_requires_trust(
    kind: str, name: str, attack: Any, place: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may lie beside the signed file in its original folder or in a copy."""
    export_signed(project, kind, monkeypatch)
    folder = project
    if place == "received":
        folder = project.parent / "received"
        shutil.copytree(project, folder, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.chdir(folder)
    trace = project.parent / "trace"
    attack(folder / name, f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n{FILES.get(name, '')}")
    captured = refusal_without_trust()
    assert "--trust" in captured if captured else attack is not change
    assert Path(name).name in captured or attack is not change
    assert "has changed since" in captured or attack is not change or name not in FILES
    assert not trace.exists()
    forget_imports(monkeypatch)
    if attack is change and name != "own_maps/__init__.py":
        make_env(file_and_task("policy.py", None, trust=True)[1]).close()
        assert trace.exists()


@pytest.mark.parametrize(("kind", "name", "attack"), attacks())
def test_returned_run_requires_trust_for_changed_code(
    kind: str, name: str, attack: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone else may have changed the files of an own run, for playing and for resuming."""
    export_signed(project, kind, monkeypatch)
    task = Task(KINDS[kind][0], wrappers=(Wrapping(KINDS[kind][1]),)).validate()
    make_env(task).close()
    own = Config(task, files=digests(task))
    forget_imports(monkeypatch)
    received = project.parent / "received"
    shutil.copytree(project, received, ignore=shutil.ignore_patterns("__pycache__"))
    (received / "run").mkdir()
    save_own(own, received / "run")
    (received / "policy.py").rename(received / "run" / "best.py")
    monkeypatch.chdir(received)
    trace = project.parent / "trace"
    attack(received / name, f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n{FILES.get(name, '')}")

    def resume(**changes: Any) -> None:
        make_env(resume_session("run", observer=Observer(), **changes).config.task).close()

    def play(**options: Any) -> None:
        make_env(file_and_task("run", None, **options)[1]).close()

    for action in (play, resume):
        forget_imports(monkeypatch)
        if "module" in kind and attack is change:
            with pytest.raises(UsageError, match=f"{Path(name).name}.*--trust"):
                action()
        else:
            with contextlib.suppress(UsageError):  # a package in a file's place
                action()
        assert not trace.exists()
    if "module" in kind and attack is change and name != "own_maps/__init__.py":
        for action in (play, resume):
            forget_imports(monkeypatch)
            action(trust=True)
            assert trace.exists()
            trace.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_own_run_is_played_after_edits(kind: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner may edit the environment in place."""
    export_signed(project, kind, monkeypatch)
    task = Task(KINDS[kind][0], wrappers=(Wrapping(KINDS[kind][1]),)).validate()
    make_env(task).close()
    (project / "run").mkdir()
    save_own(Config(task, files=digests(task)), project / "run")
    (project / "policy.py").rename(project / "run" / "best.py")
    for added in ("", "\n# edited"):
        for name, text in FILES.items():
            (project / name).write_text(text + added)
        forget_imports(monkeypatch)
        promptpo.load_policy("run").close()


@pytest.mark.parametrize("kind", KINDS)
def test_unchanged_signed_files_need_no_trust(
    kind: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """This holds in the original folder and in a copy, in this process and in others."""
    export_signed(project, kind, monkeypatch)
    shutil.copytree(project, project.parent / "copy")
    for folder in (project, project.parent / "copy"):
        monkeypatch.chdir(folder)
        forget_imports(monkeypatch)
        (folder / "notes.py").write_text("raise ValueError")
        with promptpo.load_policy("policy.py") as policy:
            assert policy.action_space.n == 2
        assert str(folder) not in sys.path
    assert command_line(["evaluate", "policy.py", "--episodes", "1"]) == 0, capsys.readouterr().err
    assert str(folder) not in sys.path


@pytest.mark.parametrize(
    "words",
    [["evaluate", "--episodes", "1"], ["play", "--video", "film.gif"], ["refine", "--max-steps", "400"]],
)
def test_every_command_requires_trust_for_changed_files(
    words: list[str], project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the changed file; none of its code has run."""
    export_signed(project, "file", monkeypatch)
    trace = project.parent / "trace"
    change(project / "own_env.py", f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n{ENV}")
    name, *flags = words
    assert command_line([name, "policy.py", *flags]) == 2
    captured = capsys.readouterr().err
    assert "own_env.py has changed" in captured
    assert "--trust" in captured
    assert not trace.exists()


@pytest.mark.parametrize("file", ["{}.py", "{}/__init__.py"])
@pytest.mark.parametrize("env_id", ["OwnThing-v0", "own_space/Thing-v0", "own_file.Thing"])
def test_registered_id_is_not_imported_from_the_folder(
    env_id: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file beside a signed policy may be named like its environment's id."""
    monkeypatch.chdir(tmp_path)
    facts = Provenance(Task(env_id), "search", "run", "r1c1")
    Path("policy.py").write_text(sign(export_text(POLICY, facts, action_space=gymnasium.spaces.Discrete(2))))
    for name in {env_id, env_id.partition(".")[0]}:
        path = Path(file.format(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import pathlib\npathlib.Path('trace').touch()\n")
    assert command_line(["evaluate", "policy.py"]) == 2
    assert command_line(["play", "policy.py", "--video", "film.gif"]) == 2
    with pytest.raises(UsageError):
        promptpo.evaluate("policy.py")
    assert not Path("trace").exists()
