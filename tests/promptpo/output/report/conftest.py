"""A run with everything that a report can show."""

from typing import Any

import pytest

import promptpo
from promptpo.llm.base import Completion, Request, Usage
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.policies import CRASH, FEEDBACK, GOOD, NAN_ACTION, SYNTAX_ERROR, TUNABLE, WEAK, variant

HOSTILE = '''I say </pre><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">.
```python
"""</script><script>window.hacked = 1</script> & <b>bold</b>"""


class Policy:
    def act(self, obs):
        return 1 if obs[2] > 0.01 else 0
```
'''

ANSWERS = {
    "feedback": FEEDBACK,
    "r1.c1": SYNTAX_ERROR,
    "r1.c1.repair1": variant(WEAK, 2),
    "r1.c2": NAN_ACTION,
    "r1.c3": HOSTILE,
    "r2.c1": TUNABLE,
    "r2.c2": GOOD,
    "r2.c3": HOSTILE,
}


def answer(request: Request) -> Any:
    """Return the scripted answer, with a price."""
    text = ANSWERS.get(request.key, CRASH)
    return Completion(text, "demo-1", usage=Usage(1000, 800, len(text) // 4), cost_usd=0.01, seconds=1.5)


@pytest.fixture(scope="session")
def report_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two rounds of three candidates: repaired, failed, hostile, tuned, duplicate and good ones."""
    return promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(answer, name="anthropic:demo-1"),
        out=tmp_path_factory.mktemp("report") / "run",
        rounds=2,
        candidates=3,
        episodes=4,
        validation_episodes=5,
        test_episodes=10,
        stop_at=501.0,
        repairs=1,
        max_steps=25_000,  # the last round is tuned too
    )
