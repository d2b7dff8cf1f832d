"""Which statements of a spec were held against steps, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from promptpo.spec.trial import RESULTS

if TYPE_CHECKING:
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts
    from promptpo.spec.task_spec import TaskSpec


def checks_of(parts: Parts, spec: TaskSpec, observed: Observed, sources: Mapping[str, str]) -> Iterator[str]:
    """One sentence for each part of a spec.

    Args:
        parts: What it says.
        spec: Its horizon.
        observed: The steps that it was held against.
        sources: Part to where it came from.
    """
    trial = observed.trial
    for name in RESULTS:
        if trial is not None and name in parts.code:
            told = trial.found[name].told
            values = f"{min(told):.4g} to {max(told):.4g}"
            yield f"{name}: its lines ran beside {len(told)} steps, and gave what the environment gave ({values})."
        elif name == "reward":
            yield f"reward: no lines of the environment are shown; its words are from: {sources['reward']}."
        else:
            yield f"{name}: no lines of the environment are shown; what is said of the end is not checked."
    for name, words in parts.words.items():
        yield f"{name}: {words}: compared with observations and actions in {len(trial.rows) if trial else 0} steps."
    ended = ", ".join(str(one.steps) for one in observed.endings)
    yield f"max_steps: {spec.horizon}, from: {spec.horizon_source}; episodes were played for {ended} steps."
    yield f"State: shapes and ranges of {len(observed.observations)} observations; its names are from: {sources['State']}."
