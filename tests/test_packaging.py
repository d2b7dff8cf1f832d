"""The wheel contains everything a user needs, nothing else, installable into an empty environment."""

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("promptpo", "sandbox", "baselines", "benchmarks")

UV = importlib.util.find_spec("uv") is not None

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def called(*command: Any, **more: Any) -> Any:
    """Run a command and show its output when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The wheel (built from the sdist, as installers do) and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    installer = "uv" if UV else "pip"
    called(sys.executable, "-m", "build", "--installer", installer, "--outdir", str(folder), str(ROOT))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def tracked(*folders: Any) -> Any:
    """Files of the repository in these folders."""
    listed = called("git", "ls-files", "--", *folders, cwd=ROOT).splitlines()
    return {name for name in listed if (ROOT / name).exists()}


def test_the_wheel_has_all_of_the_packages_and_nothing_else(built: Any) -> None:
    """Every tracked file of the four packages but committed results, the licence, and no tests."""
    names = set(zipfile.ZipFile(built[0]).namelist())
    inside = {name for name in names if ".dist-info/" not in name}
    nested = ("sandbox", "baselines", "benchmarks")
    ours = {name.split("/", 1)[1] for folder in nested for name in tracked(f"{folder}/promptpo_{folder}")}
    assert inside == ours | tracked("promptpo")
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    for needed in (
        "promptpo/py.typed",
        "promptpo_sandbox/py.typed",
        "promptpo/output/templates/policy.py.j2",
        "promptpo/prompts/templates/system.md.j2",
        "promptpo/output/report/assets/page.html.j2",
        "promptpo_benchmarks/suites/quick.toml",
    ):
        assert needed in inside
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_sdist_can_be_tested_and_built(built: Any) -> None:
    """Tests, documentation, licence and changelog are in it; runs and caches are not."""
    with tarfile.open(built[1]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert tracked(*PACKAGES, "tests", "docs") <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "PKG-INFO"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("runs", ".git/"))]


@pytest.fixture(scope="module")
def installed(built: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The programs of an environment that holds the wheel and what it needs, and nothing else.

    It is what `uv tool install` makes, which puts one command on the path; without uv it is pip's.
    """
    folder = tmp_path_factory.mktemp("installed")
    if not UV:
        venv.create(folder / "env", with_pip=True)
        programs = folder / "env" / "bin"
        bare = {"PATH": "/usr/bin:/bin"}
        called(programs / "python", "-m", "pip", "install", "--quiet", built[0], env=bare, cwd=folder)
        return programs
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    called(sys.executable, "-m", "uv", "tool", "install", built[0], env={**os.environ, **places})
    assert [path.name for path in (folder / "bin").iterdir()] == ["promptpo"]
    return folder / "tools" / "promptpo" / "bin"


def test_it_works_in_an_empty_environment(built: Any, installed: Any, tmp_path: Path) -> None:
    """From anywhere, without the repository: all that it lists can be asked for help, and it solves a task."""
    command = installed / "promptpo"
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    for name in ("baseline", "benchmark"):
        assert f"promptpo {name}" in called(command, name, "--help", env=clean, cwd=tmp_path)
    version = called(command, "--version", env=clean, cwd=tmp_path).split()[1]
    assert built[0].name.startswith(f"promptpo-{version}-")
    for taken in ("sandbox", "baselines", "benchmarks"):  # as folders of RL projects are called
        (tmp_path / taken).mkdir()
        (tmp_path / taken / "__init__.py").write_text("raise RuntimeError")
    (tmp_path / "script.py").write_text(
        "import promptpo.api, promptpo.cli.app, promptpo_baselines.cli, promptpo_benchmarks.cli"
    )
    called(installed / "python", "script.py", env=clean, cwd=tmp_path)
    listed = called(installed / "python", "-m", "promptpo", "benchmark", "list", env=clean, cwd=tmp_path)
    assert "classic" in listed
    words = [
        "optimize",
        "CartPole-v1",
        "--max-steps",
        "10000",
        "--test-episodes",
        "10",
        "--out",
        "run",
        "--json",
    ]
    text = called(command, *words, env=clean, cwd=tmp_path)
    assert json.loads(text)["test"]["mean_return"] > 100
    assert "The test episode with the median return" in (tmp_path / "run" / "report.html").read_text()
    line = [installed / "python", "-c", "import promptpo, torch"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "torch" in done.stderr  # the base install is light
