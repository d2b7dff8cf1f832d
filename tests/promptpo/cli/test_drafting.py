"""``promptpo spec --draft-spec`` from the command line, with a command as the model."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def spec(*arguments: Any, cwd: Any) -> Any:
    """Run ``promptpo spec``."""
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "promptpo", "spec", "tests.environments:Test/Sorter-v0", *arguments],
        cwd=cwd,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_program_search_cannot_draft(tmp_path: Path) -> None:
    """One sentence says what is needed."""
    done = spec("--draft-spec", cwd=tmp_path)
    assert done.returncode == 2
    assert "needs a language model" in done.stderr


def test_an_answer_is_checked_journaled_and_not_asked_for_again(tmp_path: Path) -> None:
    """What the model drafted is reported as verified or refused; the answer is on disk."""
    plain = spec(cwd=tmp_path).stdout
    (tmp_path / "answer.md").write_text(f"```python\n{plain}```\n")
    done = spec("--draft-spec", "--model", "exec:cat answer.md", "-o", "drafted.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "drafted:" in done.stderr
    assert "class State" in (tmp_path / "drafted.py").read_text()
    journal = next((tmp_path / "runs").glob("spec-*/journal.jsonl")).read_text()
    assert journal.count('"kind": "completion"') >= 1


@pytest.mark.slow
def test_another_question_gets_another_answer(tmp_path: Path) -> None:
    """An old draft is not served when what is asked has changed; the same question is asked once."""
    plain = spec(cwd=tmp_path).stdout
    (tmp_path / "answer.md").write_text(f"```python\n{plain}```\n")
    for reveal in ("named", "named", "anonymous"):
        done = spec("--draft-spec", "--reveal", reveal, "--model", "exec:cat answer.md", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    journal = next((tmp_path / "runs").glob("spec-*/journal.jsonl")).read_text()
    keys = [line for line in journal.splitlines() if '"kind": "completion"' in line]
    assert len(keys) == len({line.split('"key": "')[1].split('"')[0] for line in keys}) >= 2
