"""A run's policy as a file that runs without promptpo."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from promptpo.envs.recorded_space import space_of
from promptpo.errors import RunError
from promptpo.files import Json, StrPath
from promptpo.output.exporting import GIVEN, SEARCH, TUNED_FROM_GIVEN, Provenance, exported
from promptpo.output.run_result import load_run
from promptpo.output.run_view import read_view
from promptpo.run.config import Config
from promptpo.run.models import origin_of
from promptpo.run.origin import made_here, signed
from promptpo.run.records import Seeds
from promptpo.version import __version__


def export(run: StrPath, *, candidate: str | None = None, filename: str = "policy.py") -> str:
    """The text of a policy file for the best candidate of a run, or for another one.

    Args:
        run: The run directory.
        candidate: Its id; None means the best.
        filename: For the usage line in the file.

    Raises:
        RunError: The run or the candidate cannot be read, or nothing ran.
    """
    loaded = load_run(run)
    directory, content = loaded.directory, dict(loaded.data)
    view, best = read_view(directory), loaded.data["best"] or {}
    found = view.candidate(candidate or "best").attempt.candidate
    if found.id != best.get("candidate"):
        origin = origin_of(view.state, found.id)
        content |= {
            "best": {"candidate": found.id, "tuned": dict(found.tuned), "origin": origin},
            "test": None,
        }
    try:
        space = space_of(view.state.action_space or {})
    except (ValueError, LookupError) as error:
        raise RunError(f"{directory} is damaged: {error}.") from error
    facts = provenance(directory, content, view.config)
    text = exported(found.source, facts, action_space=space, filename=filename)
    return signed(text) if made_here(directory) else text


def provenance(directory: Path, content: Json, config: Config) -> Provenance:
    """The header facts of a run's best policy."""
    test = content["test"]
    seeds = Seeds().test(test["episodes"] if test else config.most_tested)
    model = content["model"] if content["language_model"] else SEARCH
    best = content["best"]
    if best.get("origin") == "user":
        model = TUNED_FROM_GIVEN if best.get("tuned") else GIVEN
    return Provenance(
        task=config.task,
        model=model,
        version=__version__,
        run_id=directory.resolve().name,
        candidate=best["candidate"],
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        test=test,
        test_seeds=(seeds[0], seeds[-1]),
        references=content.get("references") or {} if test else {},
        verdict=content.get("verdict", "") if test else "",
        files=config.files,
    )
