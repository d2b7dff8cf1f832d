"""A run in its own process that kills itself at a given journal event; used by test_kills."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import promptpo
from promptpo.llm.base import ALL_PURPOSES, Request
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.policies import CRASH, FEEDBACK, GOOD, TUNABLE, WEAK, variant
from tests.promptpo.warm import use_fork_server

ANSWERS = {
    "feedback": FEEDBACK,
    "r1.c1": CRASH,
    "r1.c1.repair1": variant(WEAK, 1),
    "r1.c2": TUNABLE,
    "r2.c1": GOOD,
    "r2.c2": variant(WEAK, 2),
}

EXPERIMENT = """```python
class Probe:
    def act(self, obs):
        return {action}

    def report(self, trajectory):
        return f"{len(trajectory['rewards'])} steps of {action}"
```
"""

EXPERIMENTS = {
    "probe": EXPERIMENT.replace("{action}", "0") + "\n" + EXPERIMENT.replace("{action}", "[0, 1][7]"),
    "p0.2.repair1": EXPERIMENT.replace("{action}", "1"),
    "feedback": FEEDBACK,
    "r1.c1": WEAK,
    "r2.c1": variant(WEAK, 1) + "\n" + EXPERIMENT.replace("{action}", "int(obs[3] > 0)"),
    "r3.c1": GOOD,
}
"""Answers of a run of three rounds with experiments and without tuning."""


class Killer(promptpo.Observer):
    """Kills the process with SIGKILL right after its n-th event, or after the event with this key."""

    def __init__(self, at: int | str) -> None:
        self.left = at

    def on_event(self, event: Any) -> None:
        """Count down, or compare the key."""
        if isinstance(self.left, int):
            self.left -= 1
        if self.left in {0, event.key}:
            os.kill(os.getpid(), signal.SIGKILL)


def work(folder: Path, kill_at: int | str, experiments: bool, server: str) -> None:
    """Begin or resume the run in a folder.

    Args:
        folder: Holds the run; `calls`, with a line for every call to the model, which shows repeated
            calls; and `errors`, the standard error.
        kill_at: Number or key of the event after which this process kills itself; -1 for none.
        experiments: Whether the model writes experiments.
        server: Address of the fork server; see `warm.serving`.
    """
    sys.stderr = (folder / "errors").open("w", buffering=1)
    use_fork_server(server)
    run = folder / "run"

    def model(request: Request) -> Any:
        with (folder / "calls").open("a") as log:
            log.write(request.key + "\n")
        return (EXPERIMENTS if experiments else ANSWERS)[request.key]

    llm = ScriptedLLM(model, purposes=ALL_PURPOSES) if experiments else ScriptedLLM(model)
    common: Any = {"llm": llm, "observer": Killer(kill_at)}
    if experiments:
        common |= {"recipe_options": {"tune": False}}
    if (run / "config.toml").exists():
        promptpo.resume(run, llm=llm, observer=common["observer"])
        return
    promptpo.optimize(
        "CartPole-v1",
        out=run,
        rounds=3 if experiments else 2,
        candidates=1 if experiments else 2,
        episodes=3,
        validation_episodes=4,
        test_episodes=3,
        stop_at=501.0,
        max_steps=12_000 if experiments else 3_000,
        max_episode_steps=100,
        jobs=1,
        **common,
    )
