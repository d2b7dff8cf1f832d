"""The prompts: templates in ``promptpo/telling/prompts/``, filled and kept within a token bound.

The system prompt holds everything that stays the same for a whole run (the contract and the spec), so
that every call shares one long prefix and providers' prompt caching pays it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from promptpo.envs.spaces import form_of
from promptpo.run.records import Attempt

if TYPE_CHECKING:
    import jinja2

    from promptpo.run.config import Config
    from promptpo.search.planning import Plan
    from promptpo.spec import TaskSpec

CHARACTERS_PER_TOKEN = 3.5
"""A cautious average for English and Python; exact counts would need each provider's tokenizer."""


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("promptpo.telling", "prompts"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,  # noqa: S701 - prompts are plain text
    )


def render(template: str, **values: Any) -> str:
    """Fill ``promptpo/telling/prompts/TEMPLATE.md.j2``; a missing value is an error."""
    import re

    text = _templates().get_template(f"{template}.md.j2").render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def tokens(text: str) -> int:
    """Roughly how many tokens a text has."""
    return round(len(text) / CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Shown:
    """An attempt as the prompt shows it; an empty code means that it did not fit."""

    title: str
    code: str
    feedback: str


def system_prompt(
    *, spec: str, horizon: int | None, success: bool, tune: bool, clips: bool, observation: str, action: str
) -> str:
    """The part of every prompt that never changes in a run."""
    goal = "the share of episodes that succeed, then the sum of rewards" if success else "the sum of rewards"
    return render(
        "system",
        spec=spec.strip(),
        goal=goal,
        horizon=horizon,
        tune=tune,
        clips=clips,
        observation_form=observation,
        action_form=action,
    )


def system_prompt_for(spec: TaskSpec, config: Config) -> str:
    """The system prompt of a run."""
    return system_prompt(
        spec=spec.text,
        horizon=spec.horizon,
        success=spec.reports_success,
        tune=config.switches.tune and config.tune != "none",
        clips=config.clip_actions,
        observation=form_of(spec.observation_space),
        action=form_of(spec.action_space),
    )


def policy_prompt(plan: Plan, lines: Sequence[str], *, max_tokens: int) -> str:
    """The request for one sample of a round.

    The code of the lowest-ranked attempts is left out first, then the oldest lines, until the text
    fits into `max_tokens`.
    """
    if plan.direction == "first":
        return render("first", strategy=plan.strategy)
    shown = [_shown(attempt) for attempt in plan.shown]
    kept = list(lines)
    while True:
        text = render(
            "improve",
            shown=shown,
            heading=plan.heading,
            lines=kept,
            reflections=plan.reflections,
            direction=plan.direction,
            strategy=plan.strategy,
            stalled=plan.stalled,
            best=plan.parents[0].id if plan.parents else "the attempts so far",
            parents=[parent.id for parent in plan.parents],
        )
        if tokens(text) <= max_tokens or not _shorten(shown, kept):
            return text


def _shorten(shown: list[Shown], lines: list[str]) -> bool:
    """Drop the least useful piece; False when there is nothing left to drop."""
    with_code = [i for i, item in enumerate(shown) if item.code]
    if len(with_code) > 1:
        last = with_code[-1]
        shown[last] = Shown(shown[last].title, "", shown[last].feedback.split("\n")[0])
        return True
    if len(shown) > 1:
        shown.pop()
        return True
    if lines:
        lines.pop(0)
        return True
    if shown and len(shown[0].feedback) > 400:  # noqa: PLR2004
        shown[0] = Shown(shown[0].title, shown[0].code, shown[0].feedback[:400])
        return True
    return False


def _shown(attempt: Attempt) -> Shown:
    feedback = "\n".join([attempt.feedback, *attempt.notes]).strip()
    return Shown(attempt.id, attempt.candidate.source.strip(), feedback)
