"""Prompts from templates in ``promptpo/prompts/templates/``, within a token limit.

The system prompt holds everything that stays the same for a whole run (the contract and the spec), so that all calls share
one long prefix and prompt caching by providers pays for it once.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.spaces import form_of, leaves
from promptpo.program import Program
from promptpo.prompts import feedback, limits, scores, sections
from promptpo.prompts.context import PromptContext
from promptpo.prompts.picture_guide import on_looking
from promptpo.prompts.run_status import SANDBOX_LIMITS, describe_status
from promptpo_sandbox.gate.names import list_modules

if TYPE_CHECKING:
    import jinja2

    from promptpo.core.candidate import Attempt
    from promptpo.core.config import Config
    from promptpo.core.feature import Plan
    from promptpo.spec import TaskSpec


HERE = Path(__file__).parent


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HERE / "templates", *HERE.parent.glob("features/*/templates")]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,  # noqa: S701 - prompts are plain text
    )
    found.globals["imports"] = f"{list_modules()}."
    return found


def render(template: str, **values: Any) -> str:
    """Fill ``TEMPLATE.md.j2`` from ``promptpo/prompts/templates/`` or a feature; a missing value is an error."""
    text = _templates().get_template(f"{template}.md.j2").render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def tokens(text: str) -> int:
    """Return the approximate number of tokens in a text."""
    return round(len(text) / limits.CHARACTERS_PER_TOKEN)


def system_prompt(spec: TaskSpec, config: Config) -> str:
    """Return the system prompt of requests for policies, which is the same for all of them.

    Args:
        spec: Spec of the task.
        config: Configuration of the run.
    """
    pictures, once = on_looking(spec.observation_space), config.budget.rounds == 1
    return render(
        "system",
        **task_of(spec),
        horizon=spec.horizon or spec.cut,
        tune=config.switches.tune,
        clips=config.clip_actions and is_continuous(spec.action_space),
        looking=render("looking", **pictures).strip() if pictures else "",
        once=once,
        tables=not config.follows_paper and not once,
        limits=SANDBOX_LIMITS,
    )


def task_of(spec: TaskSpec) -> dict[str, Any]:
    """Return what templates say of a task; the forms of observations and actions are empty if the spec states them verbatim."""
    text, forms = " ".join(spec.text.split()), map(form_of, (spec.observation_space, spec.action_space))
    seen, done = (form * (" ".join(form.split()) not in text) for form in forms)
    known = {"source": spec.revealed == "source", "success": spec.reports_success}
    return {"spec": spec.text, "observation_form": seen, "action_form": done, **known}


def form_of_trajectory(reports_success: bool, *, sees_all: bool, pictures: bool = False) -> str:
    """Describe the input of a feedback class: everything, or what the published procedure passes."""
    perceived = "dicts, what the policy's `perceive` returned before each action, empty where it has none"
    if not sees_all and pictures:
        return f"a list of T {perceived}."
    if not sees_all:
        return "a list of the T observations seen before each step."
    ended = '"terminated", "truncated" (bools)'
    if reports_success:
        ended = '"terminated", "truncated", "success" (bools)'
    if pictures:
        return (
            f'a dict: "observations" (list of T {perceived}; policies choose its names, so use\n'
            f'whatever is there), "actions" (list of T), "rewards" (list of T floats), {ended}.'
        )
    return (
        'a dict: "observations" (a list of T+1, the last one after the final step), "actions" and\n'
        f'"rewards" (lists of T), {ended}.'
    )


def feedback_system_prompt(spec: TaskSpec) -> str:
    """Return the system prompt of requests for a feedback class: the task, and what such code may do."""
    return render("feedback_system", **task_of(spec))


def policy_prompt(plan: Plan, known: PromptContext, *, offer: str = "", max_tokens: int) -> str:
    """Return the request for one sample of a round.

    Args:
        plan: Plan of the sample.
        known: Facts that the request may include.
        offer: Sections on what the answer may contain besides a policy.
        max_tokens: Limit on the text; everything but the request itself may be dropped for it.
    """
    bound = int(max_tokens * limits.CHARACTERS_PER_TOKEN) - 8
    if plan.kind == "first":
        return _first_prompt(plan, known, bound)
    if plan.winners is not None:
        return _winners_prompt(plan, known, bound)
    request = render(
        "request",
        kind=plan.kind,
        variant=plan.variant,
        stalled=known.history.stalled,
        parents=[parent.id for parent in plan.parents],
        starts=scores.unlucky_starts(known.history, plan.parents[0])
        if plan.kind == "worst_initial_states"
        else "",
        decisions=known.decisions,
        may_end=plan.may_end,
        blind=[
            parent.id
            for parent in plan.parents
            if known.pictures and Program.from_source(parent.candidate.source).lacks("Policy", "perceive")
        ],
        offer=offer,
    )
    return render(
        "later",
        sections=sections.drop_sections_to_fit(sections.build_sections(known, request, plan.parents), bound),
    )


def _first_prompt(plan: Plan, known: PromptContext, bound: int) -> str:
    return render(
        "first",
        variant=plan.variant,
        published=plan.winners is not None,
        where=describe_status(known.status),
        start=known.start,
        lasting=known.tell_lasting(min(limits.FIRST_LASTING, bound - 2000)),
    )


def _winners_prompt(plan: Plan, known: PromptContext, bound: int) -> str:
    """Return the published procedure's request: the best of each round with its code, and the reflections.

    If there is no room for all, the oldest programs are dropped first, then the reflections.
    """
    history = known.history
    best = [parent.id for parent in plan.parents]
    shown = {
        a.id: f"## {a.id}\n\n{sections.code_of(a)}\n\n{_every_episode(a, known)}" for a in plan.winners or ()
    }
    concluded = "\n\n".join(f"{n}. {text}" for n, text in enumerate(history.reflections, 1))
    parts = {
        "lasting": known.tell_lasting(limits.SECTIONS["lasting"]),
        "title": "# The best of each round, oldest first" if shown else "",
        **shown,
        "concluded": f"# What you concluded after each round\n\n{concluded}" if concluded else "",
        "request": render("improve", best=best[0] if best else ""),
    }
    order = ["lasting", *(name for name in shown if name not in best), "concluded", *best]
    return render("later", sections=sections.drop_sections_to_fit(parts, bound, order))


def _every_episode(attempt: Attempt, known: PromptContext) -> str:
    """Return feedback on each episode, as in the published procedure."""
    if not attempt.diagnosis.episodes:
        return attempt.feedback
    evidence = known.history.evidence(attempt)
    head = f"Return {scores.score(evidence)}. {feedback.endings(evidence.episodes, known.horizon)}"
    return "\n\n".join([head, *map(feedback.episode_in_words, attempt.diagnosis.episodes)])


def is_continuous(space: Any) -> bool:
    """Whether actions, or parts of them, are bounded real numbers."""
    from gymnasium.spaces import Box

    return any(isinstance(leaf, Box) for _, leaf in leaves(space))
