"""Hostile feedback classes through the command line: each fails or returns text, and the run goes on."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.core.config import Config
from promptpo.core.journal import JOURNAL
from promptpo.rollouts import Settings
from promptpo.session import session
from promptpo.session.setup import settings_for
from tests.promptpo.cli.test_border import NASTY, has_control_sequences
from tests.promptpo.cli.test_command_line import SHORT

POLICY = "class Policy:\n    def act(self, obs):\n        return int(obs[2] > 0)\n"
CLASS = "import numpy as np\n\n\nclass Feedback:\n    {legend!r}\n\n    def summarize_trajectory(self, trajectory):\n        {body}\n"
BODIES = {
    "reads": "return open({secret!r}).read()",
    "reads by numpy": "return str(np.fromfile({secret!r}, dtype=np.uint8))",
    "hangs": "while True: pass",
    "writes": "open({run!r} + '/journal.jsonl', 'a').write('x')",
    "much": "return 'x' * 10 ** 9",
    "no text": "return [trajectory]",
    "ends": "raise SystemExit(0)",
    "steers": "print({nasty!r}); return {nasty!r}",
}
"""Bodies of feedback classes; each is the repair of the one before, and the last returns text."""


def with_short_call_limit(config: Config) -> Settings:
    """Return a run's settings with half a second for each call of a feedback class."""
    settings = settings_for(config)
    return replace(settings, limits=replace(settings.limits, call_seconds=0.5))


@pytest.mark.slow
def test_hostile_feedback_classes_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They read, write and control nothing; the first that returns text is used, with its text cleaned."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "settings_for", with_short_call_limit)
    (tmp_path / "secret").write_text("CANARY-7f3a")
    given = {"secret": str(tmp_path / "secret"), "run": str(tmp_path / "run"), "nasty": NASTY}
    classes = [CLASS.format(legend=NASTY, body=body.format(**given)) for body in BODIES.values()]
    answers: list[dict[str, Any]] = [{"text": f"```python\n{POLICY}```", "purpose": "policy"}] * 2
    for n, source in enumerate(classes):
        answers.append({"text": f"```python\n{source}```", "purpose": "repair" if n else "feedback"})
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    assert (
        run([
            "optimize", "CartPole-v1", *SHORT, "--rounds", "2", "-n", "1", "--tune", "none", "--jobs", "1", "--no-film",
            "--repairs", str(len(BODIES)), "--model", "replay:said.jsonl", "--out", "run",
        ])
        == 0
    )  # fmt: skip
    events = [json.loads(line) for line in (tmp_path / "run" / JOURNAL).read_text().splitlines()]
    completed = [event["key"] for event in events if event["kind"] == "completion"]
    assert f"feedback.repair{len(BODIES) - 1}" in completed
    assert run(["show", "run", "r1c1"]) == 0
    captured = capsys.readouterr()
    assert not has_control_sequences(captured.out + captured.err)
    assert "owned" in captured.out
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or b"CANARY-7f3a" not in path.read_bytes(), path
