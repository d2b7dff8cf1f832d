"""The result of a run as numbers: ``result.json``."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.extras import installed
from promptpo.files import Json, read_json, write_atomically
from promptpo.output.report.scores import by_variant, counted, finite, of_episodes, score_in_words
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.models import brought
from promptpo.run.preflight import SOURCES
from promptpo.run.records import Seeds
from promptpo.telling.feedback import episodes_in_words, number

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.run.state import RunState
    from promptpo.search.final_test import Outcome

REPORT = "report.html"

REFINED = "refined"
"""Key of what a network brought that was trained from the best program."""

RESULT = "result.json"
FORMAT = 1

PACKAGES = (
    "promptpo", "gymnasium", "numpy", "RestrictedPython", "mujoco", "metaworld", "minigrid", "gymnasium-robotics", "highway-env",
    "openai", "anthropic", "cma", "torch", "stable-baselines3", "sb3-contrib",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Versions of what decides a result; returns depend on the physics engine's release, for one."""
    return {"python": platform.python_version(), "platform": platform.platform(), **installed(PACKAGES)}


def scored(
    evaluation: Evaluation | None,
    task: Task | None = None,
    *,
    horizon: int = 0,
    seeds: Callable[[int], Sequence[int]] | None = None,
) -> dict[str, Any] | None:
    """An evaluation as the result file shows it: mean return, interval, episodes, success rate, returns.

    Args:
        evaluation: The episodes.
        task: Of several variants, each of which is told.
        horizon: Episodes that the environment truncated before it do not count as cut: it has a limit of its own.
        seeds: Those of so many episodes, of the held-out test: failed episodes are `counted`.
    """
    if evaluation is None:
        return None
    whole = len(evaluation.episodes) + evaluation.failed
    episodes = counted(evaluation, seeds(whole)) if seeds else evaluation.episodes
    failed = {"episodes": whole, "failed_episodes": evaluation.failed, "failure": evaluation.error}
    return {
        "outcome": evaluation.outcome,
        **of_episodes(episodes),
        "cut": sum(one.truncated and one.steps >= horizon for one in evaluation.episodes),
        **by_reward(evaluation),
        **(by_variant(task, episodes) if task else {}),
        **(failed if seeds and evaluation.failed else {}),
    }


def cut_in_words(content: Json | None, run: Path) -> str:
    """That the run itself cut the test's episodes, where the environment sets no limit; empty where few were cut."""
    ahead, test = ((content or {}).get(name) or {} for name in ("preflight", "test"))
    cut, episodes = test.get("cut") or 0, test.get("episodes") or 0
    if ahead.get("horizon_source") != SOURCES["none"] or 2 * cut < max(1, episodes):
        return ""
    horizon = ahead["horizon"]
    return (
        f"{cut} of {episodes_in_words(episodes)} were cut at {horizon:,} steps, which is what the budget paid for; no limit of "
        "the environment's own was seen. What longer ones earn: promptpo evaluate "
        f"{shlex.quote(str(run))} --max-episode-steps {10 * horizon}; to search with them: --max-episode-steps and more --max-steps."
    )


def one_episode_in_words(content: Json | None) -> str:
    """That seeds change nothing, so that an interval over episodes says nothing; empty where they do."""
    if not ((content or {}).get("preflight") or {}).get("one_episode"):
        return ""
    return (
        "The environment's seed changes nothing: all episodes of a policy are the same, and the interval says nothing of "
        "other conditions; name some with --held-out-kwargs."
    )


def by_reward(evaluation: Evaluation) -> dict[str, Any]:
    """What the result file says beside returns that are those of a reward program; nothing where they are not."""
    own = evaluation.env_mean_return
    if own is None:
        return {}
    parts = {name: finite(value) for name, value in evaluation.mean_parts.items()}
    return {"env_mean_return": finite(own), "reward_parts": parts}


def rewarded_in_words(part: Json | None) -> str:
    """What a part of a result says of the environment's own return and the parts of a reward; empty without them."""
    if not part or part.get("env_mean_return") is None:
        return ""
    parts = ", ".join(
        f"{name} {value:.4g}" for name, value in part.get("reward_parts", {}).items() if value is not None
    )
    told = f"; by parts: {parts}" if parts else ""
    return f"The environment's own return: {number(part['env_mean_return'])}{told}."


def goal_in_words(content: Json | None) -> str:
    """Whether what was asked is done, in how many episodes, and how it fails, as a result says it; empty where nothing was asked."""
    goal = (content or {}).get("goal") or {}
    if "asked" not in goal:
        return ""
    share, pairs, how, none = (goal.get(name) for name in ("fulfilled", "pairs", "otherwise", "no_pictures"))
    others = "The others" if share and share["yes"] else "How they went"
    before = [f"{name} {yes} of {of}" for name, (yes, of) in (goal.get("succeeded_at_start") or {}).items()]
    shown = ", ".join(str(one["file"]) for one in goal.get("pictures") or ())
    compared = "The comparison in pairs with others is missing."
    if pairs:
        differing = sum(pairs.values())
        compared = f"In pairs it comes closer to the goal than others in {pairs['preferred']} of {differing} that differ."
    told: list[Any] = [
        f"What was asked ({goal.get('text', '')}): {goal['asked'] or 'not known'}, because {_went_on(goal.get('because'))}.",
        share and "The reward's success() says yes in {yes} of {of} {episodes}.".format(**goal, **share),
        how and f"{others}: {_went_on(how)}.",
        compared,
        *map(str, goal.get("misleading") or ()),
        before and f"Its success before the search: {', '.join(before)}.",
        f"Pictures: {shown}." if shown else none and f"No pictures: {none.rstrip('.')}.",
    ]
    return " ".join(filter(None, told))


def _went_on(sentence: Any) -> str:
    """A sentence as it goes on after other words: without its capital, where that is no abbreviation's, and its full stop."""
    text = str(sentence or "").strip().rstrip(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def setting(task: Task) -> dict[str, Any]:
    """What was solved, as the result file names it."""
    content: dict[str, Any] = {"env_id": task.env_id, "env_kwargs": dict(task.env_kwargs)}
    if task.wrappers:
        content["wrappers"] = [asdict(wrapping) for wrapping in task.wrappers]
    if task.is_family:
        content["variants"] = [asdict(variant) for variant in task.family]
        content["held_out_variants"] = [asdict(variant) for variant in task.held_out]
    if task.reward is not None:
        content["reward"] = {"digest": task.reward.digest, "file": task.reward.file, "goal": task.reward.goal}
    return content


def judged_by(evidence: Evidence | None, task: Task, *, horizon: int) -> dict[str, Any] | None:
    """Episodes of the best that chose it, as the result file shows them; None where there are none."""
    if evidence is None or not evidence.episodes:
        return None
    content = scored(Evaluation("ok", evidence.episodes, 0), task, horizon=horizon) or {}
    return content | {"standard_error": finite(evidence.standard_error)}


def failures_in_words(test: Json | None) -> str:
    """What the test part of a result says of episodes in which the policy failed; empty where there were none."""
    failed = (test or {}).get("failed_episodes", 0)
    if not test or not failed:
        return ""
    counted = ", which count like the worst of the others" if failed < test["episodes"] else ""
    return f"The policy failed in {failed} of {test['episodes']} test episodes{counted}: {test['failure']}"


TEACHER = "teacher"
"""The name of the reference that is a trained agent."""

MARKS = ("random", "zero")
"""The names of those that know nothing."""

REFERENCES = {"random": "random actions", "zero": "the zero action", "teacher": "the teacher"}
"""What acts, in words, by the name of a reference."""


def written_by(content: Json) -> str:
    """Who wrote the best policy of a result: who was asked, or its user."""
    best, model = content.get("best") or {}, str(content.get("model") or "")
    if best.get("origin") == "user":
        return "its user, tuned" if best.get("tuned") else "its user"
    return model


def fidelity_in_words(fidelity: Json | None) -> str:
    """How much the best acts like the teacher, as a sentence; empty where that is not known."""
    if not fidelity:
        return ""
    if fidelity["measure"] == "equal actions":
        return f"It acts as the teacher does in {fidelity['values'][0]:.1%} of {fidelity['steps']:,} states."
    values = ", ".join("-" if value is None else f"{value:.3g}" for value in fidelity["values"])
    return f"R² of its actions to the teacher's, by dimension: {values} (over {fidelity['steps']:,} states)."


def references_in_words(references: Json) -> str:
    """For example "random actions earn 22.1 (95 % interval 20.3 to 24, 100 episodes), the zero action 9.3 (…)"."""
    told = [(REFERENCES.get(name, name), score_in_words(scores)) for name, scores in references.items()]
    known = [(name, score) for name, score in told if score]
    return ", ".join(f"{name}{'' if n else ' earn'} {score}" for n, (name, score) in enumerate(known))


def result(state: RunState, outcome: Outcome, *, horizon: int, language_model: bool) -> dict[str, Any]:
    """What ``result.json`` says of a search; all of it is documented in docs/reference/results.md.

    Args:
        state: Of the run.
        outcome: How its search ended.
        horizon: Longest episode, in steps.
        language_model: Whether one was asked.
    """
    config, ledger, best, evidence = state.config, state.ledger, outcome.best, outcome.evidence
    task, seeds, trained = config.task, Seeds(config.seed), best.evaluation if best else None
    validation = evidence and Evidence(tuple(e for e in evidence.episodes if seeds.is_validation(e.seed)))
    test = scored(outcome.test, task, horizon=horizon, seeds=seeds.test)
    beyond = scored(outcome.held_out, task, horizon=horizon, seeds=seeds.held_out)
    return {
        "format": FORMAT,
        "method": "promptpo" if language_model else "search",
        **setting(task),
        "language_model": language_model,
        "recipe": config.recipe,
        "seed": config.seed,
        "best": best
        and {
            "candidate": best.id,
            "round": best.candidate.round,
            "origin": best.candidate.origin or ("model" if language_model else "search"),
            "parents": list(best.candidate.parents),
            "tuned": {name: list(change) for name, change in best.candidate.tuned.items()},
            "repairs": best.candidate.repairs,
        },
        "train": scored(trained, horizon=horizon),
        "validation": judged_by(validation, task, horizon=horizon),
        "evidence": judged_by(evidence, task, horizon=horizon),
        "test": test and test | ({"held_out": beyond} if beyond else {}),
        "selection_gap": _gap(outcome.test, train=trained, validation=validation, evidence=evidence),
        "steps": {**ledger.steps, "total": sum(ledger.steps.values())},
        "searched_steps": ledger.searched_steps,
        "llm": {
            "calls": ledger.calls,
            **asdict(ledger.usage),
            "cost_usd": round(ledger.cost_usd, 6),
            "calls_of_unknown_price": ledger.unpriced_calls,
            "models": brought(state),
        },
        "rounds": outcome.history.rounds,
        "candidates": len(outcome.history.attempts),
        "stop_reason": outcome.stop,
        "wall_seconds": round(ledger.seconds, 3),
        "versions": versions(),
        "references": {name: scored(one) for name, one in outcome.references.items()},
        "changes": outcome.history.changes,
    }


def _gap(test: Evaluation | None, **selected: Evaluation | Evidence | None) -> dict[str, float | None] | None:
    """Winner's curse: how much better the scores that selected the winner are than its test score, of each kind."""
    if test is None or not test.episodes:
        return None
    return {
        f"{name}_minus_test": finite(one.mean_return - test.mean_return) if one is not None else None
        for name, one in selected.items()
    }


def refined_before(directory: Path, candidate: str | None) -> dict[str, Any]:
    """What the result that is there already tells of a network that was trained from the same candidate."""
    try:
        found = read_json(directory / RESULT).get(REFINED)
    except (OSError, ValueError, AttributeError):
        return {}
    return {REFINED: found} if isinstance(found, dict) and found.get("candidate") == candidate else {}


def write_result(directory: Path, content: Json) -> None:
    """Write ``result.json``."""
    write_atomically(directory / RESULT, json.dumps(content, indent=2) + "\n")
