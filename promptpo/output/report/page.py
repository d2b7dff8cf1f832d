"""``report.html``: one self-contained page that shows what happened in a run.

Everything a model wrote is text in this page and is escaped; the page's content security policy allows
no script but our own, no network and no frames, so that even a mistake in escaping runs nothing.
"""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import PromptPOError
from promptpo.files import Json, read_regular, reading, write_named
from promptpo.llm.base import PNG
from promptpo.output.baseline_run import read_run
from promptpo.output.outcome import caveats, describe_extras
from promptpo.output.recorded_result import RecordedResult
from promptpo.output.report import charts
from promptpo.output.report.result import REPORT, versions
from promptpo.output.report.templates import render_page
from promptpo.output.run_view import RunView
from promptpo.output.sentences import sentence
from promptpo.prompts.feedback import number
from promptpo.run.models import summarize_models
from promptpo.run.origin import builds, is_made_here, place_for

if TYPE_CHECKING:
    from promptpo.output.baseline_run import BaselineRun
    from promptpo.output.report.episode import Shown


FILMING = 4.0
"""Time limit of the film in the automatic report, in seconds; `promptpo report` allows more."""


def add_episode(run: Path) -> None:
    """Put an episode into the report of a run that has just ended; Ctrl-C skips it."""
    with contextlib.suppress(KeyboardInterrupt, PromptPOError, OSError):
        write_report(run, out=run / REPORT, seconds=FILMING)


def write_report(
    run: Path,
    *,
    out: Path | None = None,
    episode: bool = True,
    seconds: float | None = None,
    allow_weaker_sandbox: bool = False,
    trust: bool = False,
    tell: Callable[[str], object] = lambda _: None,
) -> Path:
    """Write the report of a run, finished or not, a baseline's included, and return its path.

    Args:
        run: The run directory.
        out: The file to write; by default ``report.html`` in the run, or in the current directory if the run was not
            made here.
        episode: Run the best policy once more, in the sandbox, to show an episode of it.
        seconds: Time limit of the film; an episode that is expected to take longer is left out. None films for half a
            minute, however long the episode takes.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers for the episode; a run that was made here may
            have accepted that itself.
        trust: Run the episode although the run was not made here, which builds the environment that it names.
        tell: Called with what is built for the episode, or with why there is none.

    Raises:
        RunError: It is not a readable run.
        UsageError: There is no place for the file, or it cannot be written.
    """
    own = is_made_here(run)
    path = out or place_for(run, REPORT, None, own=own)
    view = read_run(run)
    if not isinstance(view, RunView):
        write_named(path, page(view))
        return path
    built = builds(view.config.task)
    why = sentence("no_episode", view, episode, own or trust, seconds, built)
    if episode and view.best is not None:
        tell(why or f"for an episode of the best policy, this {built}")
    shown: Shown | str = why
    if not why:
        from promptpo.output.report.episode import show_episode

        weaker = allow_weaker_sandbox or (own and view.config.allow_weaker_sandbox)
        shown = show_episode(view, seconds=seconds or 30.0, allow_weaker=weaker, trust=trust)
    with reading(run):
        write_named(path, page(view, shown))
    return path


def page(run: RunView | BaselineRun, shown: Shown | str = "") -> str:
    """Return the text of a run's page, also for a baseline.

    Args:
        run: The run.
        shown: An episode of its best policy, or why there is none; for a baseline nothing is loaded or played.
    """
    result = dict(run.result or {})
    if isinstance(run, RunView):
        template, own = "search.html.j2", _of_search(run, result, shown)
    else:
        template, own = "baseline.html.j2", _of_baseline(run)
    foreign = not is_made_here(run.directory)
    text = render_page(template, "script.js", run=run, result=result, foreign=foreign, **own)
    return text.replace(f"{Path.cwd()}{os.sep}", "")  # a page may be passed on


def _of_baseline(run: BaselineRun) -> dict[str, Any]:
    """Return the content of a baseline's page: its curve, its test, and how to repeat it."""
    lines = []
    for name, look in (("train_mean_return", "faint"), ("mean_return", "best")):
        points = [(point.steps, mean) for point in run.points if (mean := getattr(point, name)) is not None]
        lines += [charts.Series(points, look, "line")] if points else []
    reported = run.record.best.steps
    caption = f"the reported agent, after {reported:,} steps" if reported is not None else ""
    lines += [
        charts.Series([(point.steps, point.mean_return)], "written", "dots", title=caption)
        for point in run.points
        if caption and point.steps == reported and point.mean_return is not None
    ]
    label = "Mean return against training steps"
    curve = charts.over("training steps", lines, label=label) if lines else ""
    command = run.content.get("command")
    return {
        "steps": run.content["steps"],
        "words": [sentence("untrained", run.content), sentence("last_agent", run.content)],
        "charts": [("training steps", curve)] if curve else [],
        "commands": [command_line(str(command))] if command else [],
        "tables": {
            "Settings": {name: value for name, value in run.settings.items() if name != "task"},
            "Versions": run.content.get("versions") or {},
        },
    }


def _of_search(run: RunView, result: Json, shown: Shown | str) -> dict[str, Any]:
    """Return the content of a search's page."""
    state = run.state
    best = run.best.attempt.candidate if run.best else None
    session = state.sessions[-1] if state.sessions else {}
    importances = None
    if best and best.sensitivity:
        from promptpo.output.importance import importance_json

        importances = importance_json(best)
    return {
        "steps": state.ledger.steps,
        "charts": charts.spending_charts(run),
        "shares": charts.score_shares(run),
        "commands": [command_line(each["command"]) for each in state.sessions],
        "tables": {
            "Versions": session.get("versions") or versions(),
            "Sandbox": session.get("sandbox") or {},
        },
        "writer": RecordedResult.read(result).author if result else run.config.model,
        "references": {
            name: evaluation for name, evaluation in run.references.items() if evaluation.episodes
        },
        "words": [*describe_extras(result), *caveats(result, run.directory)],
        "goal_pictures": _goal_pictures(run),
        "importances": importances,
        "models": summarize_models(state),
        "experiments": _experiments(run),
        "simulator": result.get("simulator"),
        "episode": None if isinstance(shown, str) else shown,
        "note": shown if isinstance(shown, str) else shown.note,
    }


def _goal_pictures(run: RunView) -> list[tuple[str, str]]:
    """Return (caption, PNG file in base64) of the episodes that a goal's result names."""
    found = []
    for picture in ((run.result or {}).get("goal") or {}).get("pictures") or ():
        file = run.directory / Path(str(picture["file"])).name
        data = b""
        with contextlib.suppress(OSError):
            data = read_regular(file)
        if data.startswith(PNG):
            done = {True: ", success", False: ", no success"}.get(picture["success"], "")
            text = f"The {picture['role']} episode: seed {picture['seed']}, return {number(picture['return'])}{done}"
            found.append((text, base64.b64encode(data).decode()))
    return found


def command_line(command: str) -> str:
    """Return the recorded command as a person would type it."""
    program, _, rest = command.partition(" ")
    if Path(program).name in ("promptpo", "__main__.py"):
        program = "promptpo"
    return f"{program} {rest}".strip()


def _experiments(run: RunView) -> list[tuple[str, Any]]:
    """Return each experiment of a run, with a line that summarises it."""
    if not run.state.payloads["experiment"]:
        return []
    from promptpo.features.experiments.report import experiment_line

    return [(experiment_line(experiment), experiment) for experiment in run.experiments]
