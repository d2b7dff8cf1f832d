"""The reference agrees with the program, and the site builds without a warning."""

import importlib.util
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import promptpo
from tests.docs.snippets import ROOT


def test_command_line_reference_is_up_to_date() -> None:
    """To update it: python docs/hooks/cli_reference.py."""
    written = runpy.run_path(str(ROOT / "docs" / "hooks" / "cli_reference.py"))["reference"]()
    assert (ROOT / "docs" / "reference" / "cli.md").read_text() == written


def test_every_public_name_is_in_the_python_reference() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    for name in promptpo.__all__:
        assert name == "__version__" or f"::: promptpo.{name}\n" in page


def test_every_key_of_the_result_is_documented(tmp_path: Path) -> None:
    """No other key is documented."""
    from promptpo.llm.scripted import ScriptedLLM
    from tests.promptpo.policies import GOOD

    run = promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(lambda _: GOOD),
        out=tmp_path / "run",
        rounds=1,
        candidates=1,
        episodes=2,
        validation_episodes=2,
        test_episodes=2,
    )
    page = (ROOT / "docs" / "reference" / "results.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    documented = {name.strip(" `") for row in rows for name in row.split(",")}
    assert documented == set(run.data)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("material") is None or importlib.util.find_spec("mkdocstrings") is None,
    reason="needs promptpo[docs]",
)
def test_site_builds_without_warnings(tmp_path: Path) -> None:
    """In strict mode, where broken links are errors."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Search for a policy" in (tmp_path / "reference" / "cli" / "index.html").read_text()
    assert "SandboxedPolicy" in (tmp_path / "reference" / "python" / "index.html").read_text()
