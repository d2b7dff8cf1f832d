"""A run's policy as a file that runs without promptpo."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.recorded_space import space_of
from promptpo.errors import RunError
from promptpo.output.exporting import GIVEN, SEARCH, TUNED_FROM_GIVEN, Provenance, exported
from promptpo.output.run_result import load_run
from promptpo.output.run_view import read_view
from promptpo.run.config import CONFIG, Config, load_config
from promptpo.run.models import origin_of
from promptpo.run.origin import builds, built_in, check_trust, made_here, signed
from promptpo.run.records import Seeds
from promptpo.version import __version__

if TYPE_CHECKING:
    from gymnasium import Space


def export(
    run: str | os.PathLike[str],
    *,
    candidate: str | None = None,
    filename: str = "policy.py",
    trust: bool = False,
) -> str:
    """The text of a policy file for the best candidate of a run, or for another one.

    Args:
        run: The run directory.
        candidate: Its id; None means the best.
        filename: For the usage line in the file.
        trust: Build the environment of a run that was not made here, where an older version did not record
            its action space. Other runs are exported without it.

    Raises:
        RunError: The run or the candidate cannot be read, or nothing ran.
        UsageError: Its environment is needed, and it was not made here.
    """
    loaded = load_run(run)
    config = load_config(loaded.directory / CONFIG)
    best = loaded.data["best"]
    if candidate is None and best is None:
        raise RunError(f"no candidate of {loaded.directory} ran; see: promptpo show {loaded.directory}")
    content: Mapping[str, Any] = loaded.data
    source = loaded.source
    if candidate is not None and (best is None or candidate != best["candidate"]):
        view = read_view(loaded.directory)
        found = view.candidate(candidate).attempt.candidate
        source = found.source
        best = {
            "candidate": candidate,
            "tuned": dict(found.tuned),
            "origin": origin_of(view.state, candidate),
        }
        content = {**loaded.data, "best": best, "test": None}
    space = _action_space(loaded.directory, config, trust=trust)
    text = exported(
        source, provenance(loaded.directory, content, config), action_space=space, filename=filename
    )
    return signed(text) if made_here(loaded.directory) else text


def _action_space(directory: Path, config: Config, *, trust: bool) -> Space[Any]:
    """A run's action space: as recorded, so that nothing is imported to export it; older runs have no record."""
    from promptpo.envs.building import make_env

    found = read_view(directory).state.action_space
    if found is not None:
        try:
            return space_of(found)
        except ValueError as error:
            raise RunError(f"{directory} is damaged: {error}.") from error
    if not trust and not built_in(config.task):
        again = ["promptpo", "export", shlex.quote(str(directory)), "--trust"]
        check_trust(directory, builds(config.task), again)
    env = make_env(config.task)
    try:
        return env.action_space
    finally:
        env.close()


def provenance(directory: Path, content: Mapping[str, Any], config: Config) -> Provenance:
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
    )
