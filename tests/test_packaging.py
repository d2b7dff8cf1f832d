"""The wheel contains everything that a user needs and nothing else, and works in an empty environment."""

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


def run_command(*command: Any, **more: Any) -> Any:
    """Run a command, show its output if it fails, and return its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The wheel, built from the sdist as installers do, and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    installer = "uv" if UV else "pip"
    run_command(sys.executable, "-m", "build", "--installer", installer, "--outdir", str(folder), str(ROOT))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def tracked(*folders: Any) -> Any:
    """Return the repository's files in these folders."""
    listed = run_command("git", "ls-files", "--", *folders, cwd=ROOT).splitlines()
    return {name for name in listed if (ROOT / name).exists()}


def test_wheel_has_exactly_the_packages(distributions: Any) -> None:
    """Every tracked file of the four packages except committed results, the licence, and no tests."""
    names = set(zipfile.ZipFile(distributions[0]).namelist())
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


def test_sdist_has_tests_and_documentation(distributions: Any) -> None:
    """It has no runs and no caches."""
    with tarfile.open(distributions[1]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert tracked(*PACKAGES, "tests", "docs") <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "PKG-INFO"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("runs", ".git/"))]


@pytest.fixture(scope="module")
def installed_programs(distributions: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The programs of an environment with the wheel and its dependencies only, made by `uv tool install`, or by pip without uv."""
    folder = tmp_path_factory.mktemp("installed")
    if not UV:
        venv.create(folder / "env", with_pip=True)
        programs = folder / "env" / "bin"
        bare = {"PATH": "/usr/bin:/bin"}
        run_command(
            programs / "python", "-m", "pip", "install", "--quiet", distributions[0], env=bare, cwd=folder
        )
        return programs
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    run_command(sys.executable, "-m", "uv", "tool", "install", distributions[0], env={**os.environ, **places})
    assert [path.name for path in (folder / "bin").iterdir()] == ["promptpo"]
    return folder / "tools" / "promptpo" / "bin"


def test_wheel_works_in_an_empty_environment(
    distributions: Any, installed_programs: Any, tmp_path: Path
) -> None:
    """Without the repository, every listed command has help, and a task is solved."""
    command = installed_programs / "promptpo"
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    for name in ("baseline", "benchmark"):
        assert f"promptpo {name}" in run_command(command, name, "--help", env=clean, cwd=tmp_path)
    version = run_command(command, "--version", env=clean, cwd=tmp_path).split()[1]
    assert distributions[0].name.startswith(f"promptpo-{version}-")
    for taken in ("sandbox", "baselines", "benchmarks"):  # common folder names of RL projects
        (tmp_path / taken).mkdir()
        (tmp_path / taken / "__init__.py").write_text("raise RuntimeError")
    (tmp_path / "script.py").write_text(
        "import promptpo.api, promptpo.cli.app, promptpo_baselines.cli, promptpo_benchmarks.cli"
    )
    run_command(installed_programs / "python", "script.py", env=clean, cwd=tmp_path)
    listed = run_command(
        installed_programs / "python", "-m", "promptpo", "benchmark", "list", env=clean, cwd=tmp_path
    )
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
    text = run_command(command, *words, env=clean, cwd=tmp_path)
    assert json.loads(text)["test"]["mean_return"] > 100
    assert "The test episode with the median return" in (tmp_path / "run" / "report.html").read_text()
    line = [installed_programs / "python", "-c", "import promptpo, torch"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "torch" in done.stderr  # the base install has no torch
