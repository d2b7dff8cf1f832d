"""Each feature is one folder, without which everything else still works."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import promptpo
from promptpo.features import FEATURES

PACKAGE = Path(promptpo.__file__).parent
FOLDERS = sorted(path.name for path in (PACKAGE / "features").iterdir() if (path / "__init__.py").exists())

RUN = """
import sys
import promptpo
from promptpo.llm.scripted import ScriptedLLM

assert promptpo.__file__.startswith(sys.argv[1])
POLICY = '''```python
PARAMS = {"gain": (0.1, 0.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.gain = params["gain"]

    def act(self, obs):
        return int(obs[2] + self.gain * obs[3] > 0)
```'''
quick = {"rounds": 1, "candidates": 1, "episodes": 2, "validation_episodes": 2, "test_episodes": 2, "max_steps": 1500, "jobs": 1}
models = [ScriptedLLM(lambda _: POLICY)] if sys.argv[2] == "program_search" else [ScriptedLLM(lambda _: POLICY), None]
for n, llm in enumerate(models):
    asked = {"llm": llm} if llm else {"model": "search"}
    run = promptpo.optimize("CartPole-v1", out=f"{sys.argv[1]}/run{n}", **asked, **quick)
    assert run.mean_return > 5
"""


def test_feature_table_matches_the_folders() -> None:
    """Program search is a model and therefore not in the table."""
    assert {*FOLDERS} == {*FEATURES, "program_search"}


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_run_works_without_a_features_folder(folder: str, tmp_path: Path) -> None:
    """It works with a language model and, except for program search itself, without one."""
    copy = tmp_path / "promptpo"
    # including bytecode, which saves compiling, but not files that are being written
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.rmtree(copy / "features" / folder)
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{RUN}",
        str(tmp_path),
        folder,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("word", ["teacher", "goal", "simulator", "experiment", "program_search"])
def test_core_names_no_feature(word: str) -> None:
    """Tuning and references are concepts of the core."""
    assert modules_naming("core", word) == []


@pytest.mark.parametrize("word", ["teacher", "goal"])
def test_display_names_no_feature(word: str) -> None:
    """Features declare themselves whether they write the reward."""
    assert modules_naming("display", word) == []


def modules_naming(package: str, word: str) -> list[Path]:
    """Return the modules of a package that contain a word."""
    return [
        path for path in (PACKAGE / package).glob("*.py") if word in path.read_text(encoding="utf-8").lower()
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_features_are_not_imported_at_module_level(folder: str) -> None:
    """Imports inside functions are allowed."""
    wanted = re.compile(rf"^(from|import) promptpo\.features\.{folder}\b", re.MULTILINE)
    others = [
        path
        for package in ("core", "features", "prompts", "recipes", "run", "program", "spec", "rollouts", "llm")
        for path in (PACKAGE / package).rglob("*.py")
        if PACKAGE / "features" / folder not in path.parents
    ]
    assert [path for path in others if wanted.search(path.read_text(encoding="utf-8"))] == []
