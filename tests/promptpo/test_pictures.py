"""A whole run on image observations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import promptpo
from promptpo.llm.base import Request
from promptpo.llm.scripted import ScriptedLLM
from tests.sandbox.test_looking import LOOKS

USES_SEEN = """```python
class Feedback:
    def summarize_trajectory(self, trajectory):
        seen = trajectory["observations"]
        return f"thing from {seen[0]['thing']} to {seen[-1]['thing']} in {len(seen)} steps"
```
"""


@pytest.mark.slow
def test_run_on_images_describes_perceptions_and_exports(tmp_path: Path) -> None:
    """Prompts and the feedback class get the perceived dicts; the exported file needs no sandbox."""

    def model(request: Request) -> str:
        if request.purpose == "feedback":
            return USES_SEEN
        return (
            f"```python\n{LOOKS}```"
            if request.key.startswith("r1")
            else f"```python\n{LOOKS.replace('> 8', '> 9')}```"
        )

    llm = ScriptedLLM(model, sees=False)
    run = promptpo.optimize(
        "tests.sandbox.test_looking:PictureEnv",
        llm=llm,
        out=tmp_path / "run",
        rounds=2,
        candidates=1,
        episodes=2,
        validation_episodes=2,
        test_episodes=2,
        max_episode_steps=6,
        tune="none",
    )
    by_key = {request.key: request for request in llm.requests}
    assert "# Image observations" in by_key["r1.c1"].system
    assert "what the policy's `perceive` returned" in by_key["feedback"].messages[0].content
    later = by_key["r2.c1"].messages[0].content
    assert "thing from (11.5, " in later
    assert "in 6 steps" in later
    assert "seen['thing'][1]" in later
    assert all(request.images == () for request in llm.requests)
    code = (
        "import sys; sys.modules['promptpo'] = sys.modules['promptpo_sandbox'] = None; import numpy as np; import best; "
        "picture = np.zeros((40, 60, 3), np.uint8); picture[10:14, 20:24] = (250, 0, 0); "
        "print(best.predict(picture)[0], best.predict(np.roll(picture, -20, 1))[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=run.directory, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["1", "0"], done.stderr
