"""Which statements of a spec were held against steps, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from promptpo.spec.trial import RESULTS

if TYPE_CHECKING:
    from promptpo.spec.facts import TaskFacts
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts


def checks_of(
    parts: Parts, facts: TaskFacts, observed: Observed, sources: Mapping[str, str]
) -> Iterator[str]:
    """One sentence for each part of a spec.

    Args:
        parts: What it says.
        facts: Its horizon.
        observed: The steps that it was held against.
        sources: Part to where it came from.
    """
    trial, shown = observed.trial, parts.reward_code
    for name in RESULTS:
        passed = trial.passed(name) if trial is not None else None
        if (
            trial is not None
            and passed is not None
            and shown
            and any(f"def {name}(" in one for one in shown.functions)
        ):
            values = f"{min(passed.told):.4g} to {max(passed.told):.4g}"
            yield f"{name}: its lines ran beside {len(passed.told)} steps, and gave what the environment gave ({values})."
        elif name == "reward":
            yield f"reward: no lines of the environment are shown; its words are from: {sources['reward']}."
        else:
            yield "terminated: no lines of the environment are shown; what is said of the end is not checked."
    told = dict(shown.words) if shown is not None else {}
    for name, words in told.items():
        rows = len(trial.rows) if trial is not None else 0
        yield f"{name}: {words}: compared with observations and actions in {rows} steps."
    ended = [f"{one.steps} ({_how(one.terminated, one.truncated)})" for one in observed.endings]
    source = {"none": "nothing bounds it"}.get(facts.horizon_source, f"from: {facts.horizon_source}")
    yield f"max_steps: {facts.horizon}, {source}; episodes were played for {', '.join(ended)} steps."
    yield f"State: shapes and ranges of {len(observed.observations)} observations; its names are from: {sources['State']}."


def _how(terminated: bool, truncated: bool) -> str:
    return "terminated" if terminated else "truncated" if truncated else "left"
