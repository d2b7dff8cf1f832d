"""Every command and program in the documentation runs, in its order on the page."""

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.snippets import ROOT, Snippet, pages, snippets
from tests.promptpo.commands import run_command

TABLE = "[tool.promptpo.optimize]\n"
FEW = f"{TABLE}film = false\njobs = 1\nmax-steps = 5000\ntest-episodes = 4\n"
FEW_IN_PYTHON = """
import functools, promptpo
promptpo.optimize = functools.partial(promptpo.optimize, jobs=1, max_steps=5000, test_episodes=4)
"""
"""Small defaults, since pages have many runs."""
NO_KEYS = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}


def environment() -> dict[str, str]:
    """Return a user's environment variables after installing: `python` is on the path, and there is no API key."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**NO_KEYS, "PATH": path, "PYTHONPATH": str(ROOT)}


def lines(code: str) -> list[str]:
    """Return the commands of a shell block, with continuation lines joined."""
    return [line for line in code.replace("\\\n", " ").splitlines() if line.strip()]


def run(snippet: Snippet, folder: Path) -> None:
    """Run one block in a forked process, or write the file that it shows."""
    if snippet.title:
        (folder / snippet.title).write_text(snippet.code.replace(TABLE, FEW))
        return
    options: dict[str, Any] = {"cwd": folder, "environment": environment(), "seconds": 800}
    for command in [snippet.code] if snippet.language == "python" else lines(snippet.code):
        if snippet.language == "python":
            done = run_command([], code=FEW_IN_PYTHON + command, **options)
        elif command.startswith("promptpo "):
            done = run_command(shlex.split(command, comments=True)[1:], **options)
        else:
            done = subprocess.run(
                shlex.split(command),
                cwd=folder,
                env=options["environment"],
                capture_output=True,
                text=True,
                timeout=800,
                check=False,
            )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_page_runs_from_top_to_bottom(page: Any, tmp_path: Path) -> None:
    """It runs in an empty directory with default settings, without a key."""
    (tmp_path / "pyproject.toml").write_text(FEW)
    for snippet in snippets(page):
        if snippet.why_not is None and (snippet.title or snippet.language in ("sh", "python")):
            run(snippet, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_readme_programs_run(tmp_path: Path) -> None:
    for snippet in snippets(ROOT / "README.md"):
        if snippet.language == "python" and "import" in snippet.code:
            run(snippet, tmp_path)


@pytest.mark.parametrize(
    "page", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"], ids=lambda p: p.stem
)
def test_blocks_are_well_formed(page: Any) -> None:
    """Python parses, fences are closed, and blocks that are not run give a reason."""
    text = page.read_text()
    assert text.count("\n```") % 2 == 0, "a fence is not closed"
    for snippet in snippets(page):
        if snippet.language == "python":
            ast.parse(snippet.code)
        assert snippet.why_not is None or snippet.why_not.startswith(("needs ", "takes ", "trains "))


def test_commands_in_the_text_exist() -> None:
    """Their flags exist too, in text and in tables."""
    import re

    import typer

    from promptpo.cli.app import app

    group = typer.main.get_command(app)
    for page in [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]:
        for command, rest in re.findall(r"\bpromptpo ([a-z]+)((?: [^`\n]*)?)[`\n]", page.read_text()):
            if command not in group.commands:
                continue  # a sentence, or a command of another package
            known = {
                flag
                for param in group.commands[command].params
                for flag in (*param.opts, *param.secondary_opts)
            }
            known |= {"--help", "-h"}
            used = re.findall(r"(?<!\S)--?[a-z][\w-]*", re.split(r" \| |;|,", rest)[0])
            assert set(used) <= known, (page.name, command, set(used) - known)
