"""Quick searches with a scripted model, for tests of the loop."""

from pathlib import Path
from typing import Any

import promptpo
from promptpo.cli.show import overview_json
from promptpo.core.journal import JOURNAL, Event, read_events
from promptpo.llm.base import Request
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.policies import FEEDBACK, WEAK

QUICK = {
    "episodes": 4,
    "validation_episodes": 5,
    "test_episodes": 5,
    "max_episode_steps": 100,
    "stop_at": 501.0,
}
"""Few and short episodes; within 100 steps `GOOD` keeps the pole up and `WEAK` does not."""


class Model:
    """A scripted model that answers by the key of the call and records its requests."""

    def __init__(self, answers: Any = None, default: Any = WEAK) -> None:
        self.answers = answers or {}
        self.default = default
        self.requests = []

    def __call__(self, request: Request) -> Any:
        """Return the answer."""
        self.requests.append(request)
        if request.purpose == "feedback":
            return self.answers.get("feedback", FEEDBACK)
        return self.answers.get(request.key, self.default)

    def asked(self) -> Any:
        """Return the keys of all calls, in order."""
        return [request.key for request in self.requests]


def optimize(model: Any, out: Any, **more: Any) -> Any:
    """Run a quick search on CartPole."""
    return promptpo.optimize("CartPole-v1", llm=ScriptedLLM(model), out=out, **{**QUICK, **more})


def attempts_of(run: Any) -> Any:
    """Return attempts by id, as `show --json` prints them."""
    return {candidate["id"]: candidate for candidate in overview_json(run.directory)["candidates"]}


def read_run(directory: Path) -> dict[str, list[Event]]:
    """Return the events of a run by kind."""
    by_kind: dict[str, list[Event]] = {}
    for event in read_events(directory / JOURNAL):
        by_kind.setdefault(event.kind, []).append(event)
    return by_kind
