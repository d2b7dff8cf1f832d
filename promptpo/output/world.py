"""What a person gets of a run's world model: an ordinary module, and an environment to train in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from promptpo.errors import NoSuchRunError, RunError
from promptpo.files import Json
from promptpo.output.exporting import beside, gated
from promptpo.output.run_view import RunView
from promptpo.program import Program
from promptpo.program.program import is_plain_expression
from promptpo.run.journal import JOURNAL, Event, read_events
from promptpo.world.words import in_words, use_in_words
from promptpo_sandbox.text import clean

MODEL = "model.py"

_STEP = '''

# What can be done with it: one step from an observation


def step(obs, action, rng=None):
    """What the model predicts for one step: (observation, reward, terminated)."""
    import numpy as np

    return World({values}obs, rng or np.random.default_rng()).step(action)
'''

_ENVIRONMENT = '''

# The same as an environment; needs gymnasium


import gymnasium
from gymnasium import spaces

STARTS = {starts}


class WorldEnv(gymnasium.Env):
    """Episodes in the model: they start where recorded episodes did and last {horizon} steps at most.

    What is learnt here is worth what the model is worth; try it in the real environment.
    """

    def __init__(self):
        import numpy as np

        self.observation_space = {observation}
        self.action_space = {action}
        self.world, self.steps = None, 0

    def reset(self, *, seed=None, options=None):
        import numpy as np

        super().reset(seed=seed)
        start = STARTS[int(self.np_random.integers(len(STARTS)))]
        obs = {start}
        self.world, self.steps = World({values}obs, self.np_random), 0
        return obs, {{}}

    def step(self, action):
        obs, reward, terminated = self.world.step(action)
        self.steps += 1
        return obs, float(reward), bool(terminated), self.steps >= {horizon} and not terminated, {{}}
'''


def use_of_world(view: RunView) -> str:
    """What the world models of a run were used for, saved and cost, as one line; empty where none was made."""
    state, best = view.state, view.best
    if not state.worlds:
        return ""
    known = {one.attempt.id: one.attempt.candidate.parents for one in view.candidates}
    line = [best.attempt.id] if best is not None else []
    for one in line:
        line += [parent for parent in known.get(one, ()) if parent not in line]
    paid = state.ledger.taken["world"]
    return use_in_words(state.imagined, paid, state.ledger.searched_steps, state.told["promise"], line)


def usable_world(worlds: Sequence[Event]) -> Json | None:
    """The newest world model that was good enough to be used; None where there is none.

    Args:
        worlds: The run's events of this kind.
    """
    found = [event.data for event in worlds if event.data["score"]["usable"]]
    return found[-1] if found else None


def model_module(data: Json, task: str, more: str = "") -> str:
    """A world model as an ordinary module with a function ``step``, and with `more` behind it."""
    program = Program.parse(data["source"])
    added = _STEP.format(values=_values(program)) + more
    program = beside(program, added)
    head = [f"A world model of {task}, learnt by promptpo from {data['steps']:,} recorded steps.", ""]
    head += in_words(data["score"])
    docstring = clean("\n".join(head)).replace("\\", "/").replace('"""', "'''")
    about = program.docstring.replace('"""', "'''").replace("\\", "/")
    return f'"""{docstring}\n\n{about}\n"""\n\n{program.without_docstring.strip()}\n{added}'


def environment_module(data: Json, task: str) -> str:
    """A world model as a Gymnasium environment.

    Raises:
        RunError: Its observations or actions are not of a kind that can be written down here, or the gate refuses it.
    """
    gated(data["source"])
    observation, action, start = _written(data)
    starts = [one for one in data["starts"] if one is not None]
    if not observation or not action or not starts:
        raise RunError(
            "only models of observations and actions that are arrays or single numbers are exported as environments."
        )
    more = _ENVIRONMENT.format(
        starts=json.dumps(starts, allow_nan=False),
        horizon=int(data["horizon"]),
        observation=observation,
        action=action,
        start=start,
        values=_values(Program.parse(data["source"])),
    )
    return model_module(data, task, more)


def exported_world(run: Path, task: str) -> str:
    """The world model of a run as an environment.

    Raises:
        RunError: The run has none, or it cannot be written down.
    """
    data = usable_world([one for one in read_events(run / JOURNAL) if one.kind == "world"])
    if data is None:
        raise NoSuchRunError(
            f"{run} has no world model that was good enough to be used; what --recipe model learnt of the task is told by: promptpo show {run}"
        )
    return environment_module(data, task)


def _values(program: Program) -> str:
    return f"{program.given()}, " if program.params else ""


def _written(data: Json) -> tuple[str, str, str]:
    """Expressions of both spaces and of an observation to start from."""
    observation, action = data["written"]
    for text in (observation, action, data["start"]):
        if text and not is_plain_expression(text):
            raise RunError("the world model is not exported: its spaces are no plain expressions.")
    return observation, action, data["start"]
