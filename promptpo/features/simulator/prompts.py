"""Requests for a simulator and for policies to tune in it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.prompts import prompting
from promptpo.prompts.feedback import number
from promptpo.prompts.run_status import SANDBOX_LIMITS
from promptpo.prompts.shortening import count_of
from promptpo.prompts.step_table import cell
from promptpo.spec.reading import names_of

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.features.simulator.records import Version
    from promptpo.simulator.fit import FittedNumber
    from promptpo_sandbox import Recorded

MAX_ROWS, MAX_ENDING_ROWS = 40, 12
"""Maximum numbers of recorded steps, and of steps before an early end, shown in the request for a simulator."""

MAX_ROW_NUMBERS = 40
"""Maximum number of components of an observation in a row."""


def _render_system(template: str, context: SearchContext, **more: Any) -> str:
    """Render a system prompt that begins with the task."""
    task = prompting.task_of(context.spec)
    return prompting.render(template, **task, horizon=context.horizon, limits=SANDBOX_LIMITS, **more)


def simulator_system(context: SearchContext) -> str:
    """Return the system prompt of requests for a simulator: the task and the contract."""
    spec = context.spec
    return _render_system(
        "simulator_system",
        context,
        body="BODY = " in spec.text,
        engine=importlib.util.find_spec("mujoco") is not None,
        obs_lanes=in_lanes(spec.observation_space),
        action_lanes=in_lanes(spec.action_space),
    )


def in_lanes(space: spaces.Space[Any]) -> str:
    """Describe the form of n observations or actions side by side."""
    if isinstance(space, spaces.Discrete):
        return "an int array [n]"
    shape = ", ".join(map(str, space.shape or ()))
    kind = "int" if np.issubdtype(space.dtype, np.integer) else "float"
    return f"a {kind} array [n, {shape}]".replace("a int", "an int")


def describe_recorded(context: SearchContext, episodes: Sequence[Recorded], known: str) -> str:
    """Describe the environment for all requests for a simulator: recorded steps, and results of other features."""
    names = names_of(context.spec.text)
    acting = [episode for episode in episodes if np.ptp(np.asarray(episode.actions, float)) > 0] or episodes
    longest = max(acting, key=len)
    ended = [len(episode) for episode in episodes if episode.terminated]
    ending = next((episode for episode in episodes if episode.terminated and episode is not longest), None)
    return prompting.render(
        "simulator_recorded",
        steps=sum(map(len, episodes)),
        count=count_of(len(episodes), "episode"),
        ended=", ".join(map(str, ended[:20])),
        rows=rows(longest, range(min(len(longest), MAX_ROWS)), names),
        ending=last_rows(ending, names),
        known=known,
    )


def last_rows(episode: Recorded | None, names: Mapping[str, str]) -> str:
    """Return the last steps of an episode as a table; empty without an episode."""
    return rows(episode, range(len(episode))[-MAX_ENDING_ROWS:], names) if episode else ""


def rows(episode: Recorded, steps: Sequence[int], names: Mapping[str, str]) -> str:
    """Return some steps of an episode as a table, including the state after the last one."""
    seen, done = (
        np.asarray(part, float).reshape(len(part), -1) for part in (episode.observations, episode.actions)
    )
    seen = seen[:, :MAX_ROW_NUMBERS]
    places = [f"obs[{i}]" for i in range(seen.shape[1])] + [f"action[{i}]" for i in range(done.shape[1])]
    columns = [names.get(place, place) for place in places]
    lines = ["|".join(["step", *columns, "reward"])]
    lines += [
        "|".join([str(t), *map(_cell, seen[t]), *map(_cell, done[t]), cell(episode.rewards[t])])
        for t in steps
    ]
    after = steps[-1] + 1
    lines.append("|".join([str(after), *map(_cell, seen[after])]) + ("|terminated" * episode.terminated))
    return "\n".join(lines)


def _cell(value: float) -> str:
    """Format a number with five digits, enough to tell formulas apart."""
    return f"{value:.5g}"


def repair_request(
    context: SearchContext,
    version: Version,
    *,
    recorded: str,
    earlier: str,
    left: int,
    fallen: Recorded | None,
) -> str:
    """Return the request to correct a simulator, with its tests and a real episode that ended early."""
    return prompting.render(
        "simulator_repair",
        recorded=recorded,
        code=version.source.strip(),
        exact=version.predicts_exactly,
        problems=version.problems,
        detail=version.detail[:3000].strip(),
        remarks=version.remarks,
        numbers=numbers_table(version.numbers),
        errors=version.errors.as_text(observation_labels(context)) if version.errors else "",
        worlds="\n".join(f"- {line}" for line in version.worlds),
        fallen=last_rows(fallen, names_of(context.spec.text)),
        earlier=earlier,
        left="no correction" if left == 1 else f"{left - 1} more",
    )


def observation_labels(context: SearchContext) -> list[str]:
    """Return labels of the components of an observation, with the spec's names if it has any."""
    names, space = names_of(context.spec.text), context.spec.observation_space
    if not isinstance(space, spaces.Box):
        return []
    places = (f"obs[{i}]" for i in range(int(np.prod(space.shape))))
    return [f"{place} {names.get(place, '')}".strip() for place in places]


def numbers_table(numbers: Sequence[FittedNumber]) -> str:
    """Return the fitted numbers and the original ones as a table."""
    if not numbers:
        return ""
    lines = ["number|written|fitted|error|low|high|"]
    for fitted in numbers:
        notes = {
            "no effect on these steps": not fitted.touched,
            "far from what you wrote": fitted.doubtful,
            "at its bound": fitted.at_bound,
        }
        values = (fitted.prior, fitted.value, fitted.error, fitted.low, fitted.high)
        lines.append("|".join([fitted.name, *map(number, values), ", ".join(filter(notes.get, notes))]))
    return "\n".join(lines)


def policies_system(context: SearchContext) -> str:
    """Return the system prompt of requests for policies to tune in a simulator."""
    spec = context.spec
    return _render_system(
        "simulated_system",
        context,
        observation=_observation_form(spec.observation_space),
        action=_action_form(spec.action_space),
        example=_example(spec.action_space),
    )


def _observation_form(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Discrete):
        return f"a number from {int(space.start)} to {int(space.start + space.n - 1)}"
    shape = space.shape or ()
    if len(shape) == 1:
        return f"`obs[0]` to `obs[{shape[0] - 1}]` are numbers"
    return f"an array of shape {shape}; its entries, such as `obs{[0] * len(shape)}`, are numbers"


def _action_form(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Discrete):
        return f"a whole number from {int(space.start)} to {int(space.start + space.n - 1)}"
    count = int(np.prod(space.shape or (1,)))
    return f"a list of {count} number{'s' * (count != 1)}, in the order of the actions, clipped to their bounds afterwards; a list, because `np.array` cannot mix numbers and arrays"


def _example(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Discrete):
        return "np.where(push > 0.0, 1, 0)"
    count = int(np.prod(space.shape or (1,)))
    return "[" + ", ".join(["push"] + ["-push"] * (min(count, 3) - 1)) + (", ..." * (count > 3)) + "]"  # noqa: PLR2004
