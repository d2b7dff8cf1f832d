"""``report.html``: one self-contained page that tells what happened in a run.

Everything a model wrote is text in this page and is escaped; the page's content security policy allows
no script but our own, no network and no frames, so that even a mistake in escaping runs nothing.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from promptpo.errors import PromptPOError
from promptpo.files import read_regular, reading, write_named
from promptpo.output.importance import importances, tuned_rows
from promptpo.output.report import charts
from promptpo.output.report.result import (
    REFERENCES,
    REFINED,
    REPORT,
    cut_in_words,
    fidelity_in_words,
    goal_in_words,
    one_episode_in_words,
    versions,
    written_by,
)
from promptpo.output.report.templates import difference, highlighted, rendered
from promptpo.output.run_view import RunView, read_view
from promptpo.run.config import CONFIG
from promptpo.run.evidence import Evidence
from promptpo.run.models import brought
from promptpo.run.origin import builds, made_here, place_for
from promptpo.run.state_values import CandidateState
from promptpo.telling.feedback import OUTCOME_WORDS, number

if TYPE_CHECKING:
    from promptpo.output.baseline_run import BaselineRun
    from promptpo.output.report.episode import Shown

COLOURED = 60
"""Candidates whose source is coloured; colouring hundreds of them would take seconds."""


FILMING = 4.0
"""Seconds that the film of the automatic report may take; `promptpo report` takes its time."""


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

    It is never poorer than the one that it replaces: an episode of the same policy that is shown there stays.

    Args:
        run: The run directory.
        out: The file to write; by default ``report.html`` in the run, or in the current directory where that was not
            made here.
        episode: Run the best policy once more, in the sandbox, to show an episode of it.
        seconds: How long its film may take, and leave the episode out where it is expected to take longer; None films
            for half a minute, however long the episode takes.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers for the episode; a run that was made
            here says itself whether that is accepted.
        trust: Run the episode although the run was not made here, which builds the environment that it names.
        tell: Told what is built for the episode, and what was kept of the report that was there.

    Raises:
        RunError: It is not a readable run.
        UsageError: There is no place for the file, or it cannot be written.
    """
    own = made_here(run)
    path = out or place_for(run, REPORT, None, own=own)
    if not (run / CONFIG).is_file():
        from promptpo.output.baseline_run import is_baseline, read_baseline

        if is_baseline(run):
            write_named(path, page(read_baseline(run)))
            return path
    view = read_view(run)
    why = _left_out(view, episode=episode, trusted=own or trust, seconds=seconds)
    if episode and view.best is not None:
        tell(why or f"for an episode of the best policy, this {builds(view.config.task)}")
    shown: Shown | str = why
    if not why:
        from promptpo.output.report.episode import show_episode

        weaker = allow_weaker_sandbox or (own and view.config.allow_weaker_sandbox)
        shown = show_episode(view, seconds=seconds or 30.0, allow_weaker=weaker)
    with reading(run):
        text = page(view, shown)
    if own and path.is_file():
        text = _no_poorer(text, path, tell)
    write_named(path, text)
    return path


def _left_out(view: RunView, *, episode: bool, trusted: bool, seconds: float | None) -> str:
    """Why no episode is run for the report; empty where one is."""
    again, expected = (
        f"promptpo report {shlex.quote(str(view.directory))}",
        view.state.seconds_per_test_episode,
    )
    if not episode:
        return f"The report was written without an episode; add one with: {again}"
    if seconds is not None and (expected or 0.0) > seconds:
        return f"An episode takes about {expected:.0f} seconds here, so none was run for this page; add one with: {again}"
    if not trusted:
        return (
            f"The run was not made here, and running an episode {builds(view.config.task)}, so none was run; "
            f"if you trust it: {again} --trust"
        )
    return ""


_EPISODE = re.compile(
    r'<section id="episode" data-of="([0-9a-f]*)" data-shows="(nothing|lines|film)">.*?</section>', re.DOTALL
)
_WORTH = ("nothing", "lines", "film")


def _no_poorer(text: str, path: Path, tell: Callable[[str], object]) -> str:
    """The page, with the earlier one's episode where that is of the same policy and shows more."""
    earlier, now = _EPISODE.search(read_regular(path).decode("utf-8", "replace")), _EPISODE.search(text)
    if earlier is None or now is None or earlier[1] != now[1]:
        return text
    if _WORTH.index(earlier[2]) <= _WORTH.index(now[2]):
        return text
    tell(f"{path} keeps the episode that it had")
    return text[: now.start()] + earlier[0] + text[now.end() :]


def page(run: RunView | BaselineRun, shown: Shown | str = "") -> str:
    """The text of the page of a run, a baseline's included.

    Args:
        run: The run.
        shown: An episode of its best policy, or why there is none; of a baseline nothing is loaded or played.
    """
    if isinstance(run, RunView):
        template, own = "search.html.j2", _of_search(run, shown)
    else:
        template, own = "baseline.html.j2", _of_baseline(run)
    result = dict(run.result) if run.result else None
    scores = {name: part for name, part in (result or {}).items() if name in own["parts"]}
    tested = (scores.get("test") or {}).get("mean_return") is not None
    return rendered(
        template,
        "script.js",
        run=run,
        result=result,
        scores=scores,
        selection_chart=charts.selection_chart(scores) if tested else None,
        **own,
    )


def _of_baseline(run: BaselineRun) -> dict[str, Any]:
    """What the page of a baseline shows: its curve, its test, and how to repeat it."""
    result = run.result or {}
    looked = [(one.steps, one.mean_return) for one in run.curve if one.mean_return is not None]
    trained = [(one.steps, one.train_mean_return) for one in run.curve if one.train_mean_return is not None]
    lines = [charts.Series(looked, kind="line")]
    if len(trained) > 1 and trained != looked:
        lines.append(charts.Series(trained, "faint", "line"))
    curve = charts.over("training steps", lines, label="Mean return against training steps") if looked else ""
    return {
        "name": f"{run.method} on {run.env_id}",
        "kind": " · a baseline",
        "parts": ("validation", "test"),
        "steps": run.steps,
        "returns": bool(looked),
        "charts": [("training steps", curve)] if looked else [],
        "legend": "Mean return on validation seeds, or of the latest training episodes where nothing was evaluated; "
        "faint: of the latest training episodes.",
        "commands": [typed(str(result["command"]))] if result.get("command") else [],
        "tables": {
            "Settings": {name: value for name, value in run.settings.items() if name != "task"},
            "Versions": result.get("versions") or {},
        },
    }


def _of_search(run: RunView, shown: Shown | str) -> dict[str, Any]:
    """What the page of a search shows."""
    candidates, result, state = run.candidates, run.result, run.state
    best = run.best.attempt.candidate if run.best else None
    session = state.sessions[-1] if state.sessions else {}
    sandbox, spent = session.get("sandbox") or {}, charts.spending_charts(run)
    episode = None if isinstance(shown, str) else shown
    world = state.worlds[-1] if state.worlds else None
    if refined := (result or {}).get(REFINED):
        from promptpo.output.refined import refined_in_words
    if state.experiments:
        from promptpo.telling.experiments import one_line as experiment_line
    if world:
        from promptpo.output.world import use_of_world
        from promptpo.world import words
    return {
        "name": run.config.task.name,
        "kind": "",
        "parts": ("train", "validation", "evidence", "test"),
        "steps": state.ledger.steps,
        "returns": bool(spent),
        "charts": spent,
        "legend": Markup(
            '<span class="key bestline">best mean return so far, over training and validation episodes</span> '
            '<span class="key written">training return as written</span> <span class="key tuned">with tuned numbers</span> '
            '<span class="key duplicate">of a duplicate</span>'
        ),
        "commands": [typed(each["command"]) for each in state.sessions],
        "tables": {
            "Versions": session.get("versions") or versions(),
            "Sandbox": {
                name: sandbox[name] or "nothing" for name in ("level", "active", "missing") if sandbox
            },
        },
        "writer": written_by(result) if result else run.config.model,
        "views": [_view(run, one, coloured=n < COLOURED) for n, one in enumerate(candidates)],
        "best": _view(run, run.best, coloured=True) if run.best else None,
        "references": [
            (REFERENCES.get(name, name), Evidence.of(one.episodes))
            for name, one in run.references.items()
            if one.episodes
        ],
        "reward": _reward(run),
        "doubts": list(filter(None, [cut_in_words(result, run.directory), one_episode_in_words(result)])),
        "goal": goal_in_words(result),
        "goal_pictures": _goal_pictures(run),
        "refined": refined_in_words(result) if refined else "",
        "fidelity": fidelity_in_words(((result or {}).get("teacher") or {}).get("fidelity")),
        "importances": importances(best) if best else ([], 0),
        "tuned_rows": tuned_rows(best) if best else [],
        "models": brought(state),
        "ancestors": _ancestors(run),
        "outcome_words": OUTCOME_WORDS,
        "experiments": [(experiment_line(one), one, highlighted(one.source)) for one in state.experiments],
        "world": world,
        "world_words": [*words.in_words(world["score"]), use_of_world(run)] if world else [],
        "episode": episode,
        "episode_note": episode.note if episode else shown,
        "episode_rows": episode.rows if episode else [],
        "frames": _frames(episode),
    }


def _reward(run: RunView) -> dict[str, Any] | None:
    """The reward program with what candidates earned by its parts, where there is one."""
    program = run.config.task.reward
    if program is None:
        return None
    looked = [(one.id, one.attempt.evaluation) for one in run.candidates if one.ran]
    names = list(dict.fromkeys(name for _, evaluation in looked for name in evaluation.mean_parts))
    rows = [
        (
            id_,
            evaluation.mean_return,
            [evaluation.mean_parts.get(n) for n in names],
            evaluation.env_mean_return,
        )
        for id_, evaluation in looked
    ]
    return {"program": program, "source": highlighted(program.source), "names": names, "rows": rows}


def _ancestors(run: RunView) -> list[CandidateState]:
    """The best candidate and all whose prompt or numbers it came from, in the order of rounds and ids."""
    left, found = [run.best.id] if run.best else [], set()
    while left:
        one = run.state.candidate(left.pop())
        if one is not None and one.id not in found:
            found.add(one.id)
            left += one.attempt.candidate.parents
    return [one for one in run.candidates if one.id in found]


def _view(run: RunView, state: CandidateState, *, coloured: bool) -> dict[str, Any]:
    """A candidate with what the page shows of it."""
    attempt, source = state.attempt, state.attempt.candidate.source
    parents = [run.state.candidate(name) for name in attempt.candidate.parents[:3]]
    words = f"return {number(attempt.evaluation.mean_return)}"
    if attempt.candidate.duplicate_of:
        words = f"the same program as {attempt.candidate.duplicate_of}"
    elif attempt.evaluation.outcome != "ok":
        words = OUTCOME_WORDS[attempt.evaluation.outcome]
    return {
        "candidate": state,
        "source": highlighted(source) if coloured and source else source,
        "differences": [
            (one.id, difference(one.attempt.candidate.source, source, (one.id, attempt.id)))
            for one in parents
            if one is not None and source and one.attempt.candidate.source
        ],
        "words": words,
    }


PNG = b"\x89PNG\r\n\x1a\n"


def _goal_pictures(run: RunView) -> list[tuple[str, str]]:
    """(what is shown, PNG file in base64) of the episodes that a goal's result names."""
    found = []
    for one in ((run.result or {}).get("goal") or {}).get("pictures") or ():
        file = run.directory / Path(str(one["file"])).name
        data = b""
        with contextlib.suppress(OSError):
            data = read_regular(file)
        if data.startswith(PNG):
            done = {True: ", success", False: ", no success"}.get(one["success"], "")
            text = f"The {one['role']} episode: seed {one['seed']}, return {number(one['return'])}{done}"
            found.append((text, base64.b64encode(data).decode()))
    return found


def _frames(shown: Shown | None) -> Markup | None:
    """A film for the page's script; base64 and numbers only, so nothing in it can end the element."""
    if shown is None or shown.film is None:
        return None
    frames = [list(frame) for frame in shown.film.frames]
    return Markup(json.dumps({"fps": shown.film.fps, "frames": frames, "steps": shown.steps}))  # noqa: S704 - see above


def typed(command: str) -> str:
    """The recorded command as a person would type it."""
    program, _, rest = command.partition(" ")
    if Path(program).name in ("promptpo", "__main__.py"):
        program = "promptpo"
    return f"{program} {rest}".strip()
