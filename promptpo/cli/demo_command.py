"""``promptpo demo``: replay a recorded run through the real loop, sandbox and report."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from promptpo.cli.arguments import AsJson, Quiet
from promptpo.cli.document import print_json
from promptpo.display.console import say

ENVIRONMENT = "promptpo.demo.crane:OverheadCrane"
SETTINGS = {
    "rounds": 2, "candidates": 2, "max_steps": 60_000, "test_episodes": 20, "seed": 1, "repairs": 0, "simulate": False,
    "recipe_options": {"probe": False, "feedback_class": False},
}  # fmt: skip
"""Settings of the recorded run."""

OPENING = """\
A recorded run: a large language model wrote these policies for an overhead crane. No model is called and nothing is
charged now. Everything else is real: the policies run in the sandbox, and the returns below are measured here.
The environment: {environment}
"""
CLOSING = """\

For your own environment, with a model of your own:
  export ANTHROPIC_API_KEY=...      (or OPENAI_API_KEY; or a local server with --base-url)
  promptpo optimize ./my_env.py:MyEnv --estimate
  promptpo optimize ./my_env.py:MyEnv"""


def demo(
    out: Annotated[Path | None, typer.Option(help="Run directory; by default a new one under runs/.")] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Watch policies that a language model wrote; needs no key.

    Replays recorded answers for an overhead crane through the real loop, sandbox and report.
    """
    from promptpo.api import make_config, new_session
    from promptpo.display.terminal import choose_display
    from promptpo.envs.task import Task

    folder, quiet = files("promptpo.demo"), quiet or as_json
    if not quiet:
        say(OPENING.format(environment=folder / "crane.py"))
    with as_file(folder / "answers.jsonl") as answers, choose_display(quiet=quiet) as display:
        config = make_config(Task(ENVIRONMENT), {"model": f"replay:{answers}", **SETTINGS})
        result = new_session(config, out=out, observer=display).run()
    if as_json:
        print_json({"run": str(result.directory), **result.data})
    if not quiet:
        say(CLOSING)
