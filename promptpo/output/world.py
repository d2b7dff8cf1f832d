"""What a person gets of a run's world model: an ordinary module, and an environment to train in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from promptpo.errors import NoSuchRunError, RunError
from promptpo.files import Json
from promptpo.output.exporting import beside, gated
from promptpo.output.run_view import RunView
from promptpo.output.sentences import texts
from promptpo.program import Program
from promptpo.program.program import is_plain_expression
from promptpo.world.words import in_words, use_in_words
from promptpo_sandbox.text import clean

MODEL = "model.py"


def use_of_world(view: RunView) -> str:
    """What the world models of a run were used for, saved and cost, as one line; empty where none was made."""
    state = view.state
    if not state.worlds:
        return ""
    paid, line = state.ledger.taken["world"], [one.id for one in view.lineage]
    return use_in_words(state.imagined, paid, state.ledger.searched_steps, state.told["promise"], line)


def usable_world(worlds: Sequence[Json]) -> Json | None:
    """The newest world model that was good enough to be used; None where there is none.

    Args:
        worlds: All of the run, the newest last.
    """
    return next((data for data in reversed(worlds) if data["score"]["usable"]), None)


def model_module(data: Json, task: str, environment: Json | None = None) -> str:
    """A world model as an ordinary module with a function ``step``; with an environment, too, where that is described."""
    program = Program.parse(data["source"])
    values = f"{program.given()}, " if program.params else ""
    added = texts().get_template("world.py.j2").render(values=values, environment=environment)
    program = beside(program, added)
    head = [f"A world model of {task}, learnt by promptpo from {data['steps']:,} recorded steps.", ""]
    head += [*in_words(data["score"]), "", program.docstring]
    docstring = clean("\n".join(head)).replace("\\", "/").replace('"""', "'''")
    return f'"""{docstring}\n"""\n\n{program.body.strip()}\n{added}'


def environment_module(data: Json, task: str) -> str:
    """A world model as a Gymnasium environment.

    Raises:
        RunError: Its observations or actions are not of a kind that can be written down here, or the gate refuses it.
    """
    gated(data["source"])
    spaces, start = dict(zip(("observation", "action"), data["written"], strict=True)), data["start"]
    if not all(is_plain_expression(text) for text in (*spaces.values(), start) if text):
        raise RunError("the world model is not exported: its spaces are no plain expressions.")
    starts = [one for one in data["starts"] if one is not None]
    if not all(spaces.values()) or not starts:
        raise RunError(
            "only models of observations and actions that are arrays or single numbers are exported as environments."
        )
    described = {
        "starts": json.dumps(starts, allow_nan=False),
        "start": start,
        "horizon": int(data["horizon"]),
    }
    return model_module(data, task, spaces | described)


def exported_world(view: RunView) -> str:
    """The world model of a run as an environment.

    Raises:
        RunError: The run has none, or it cannot be written down.
    """
    data = usable_world(view.state.worlds)
    if data is None:
        raise NoSuchRunError(
            f"{view.directory} has no world model that was good enough to be used; what --recipe model learnt of the task is told by: promptpo show {view.directory}"
        )
    return environment_module(data, view.config.task.name)
