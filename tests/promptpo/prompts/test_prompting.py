"""Every prompt, pinned word for word."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from syrupy.assertion import SnapshotAssertion

from promptpo.core.config import Budget, Config
from promptpo.core.feature import Plan
from promptpo.envs.task import Task
from promptpo.prompts import prompting
from promptpo.prompts.picture_guide import on_looking
from promptpo.prompts.run_status import SANDBOX_LIMITS
from promptpo.spec import TaskSpec
from tests.promptpo.prompts.examples import BEST, PARTNER, context, plan

FORMS = {"spec": "x: float", "observation_form": "an int", "action_form": "an int"}
EPISODES = [("1", "It went left."), ("2", "It stood.")]
SPEC = '''"""A cart on a track."""

class State:
    position: float  # m


# Not found in the observation: env.wind (seen 0.1 .. 0.4).
'''
SPACE = spaces.Box(-1.0, 1.0, (4,))


def system(*, success: bool = False, horizon: int | None = 500, **options: Any) -> Any:
    """Return a system prompt."""
    spec = TaskSpec(SPEC, SPACE, SPACE, horizon, None, success)
    return prompting.system_prompt(spec, Config(Task("Cart-v0"), **options))


def test_single_round_promises_no_second_request() -> None:
    assert "asked for a better one" in system()
    assert "asked for a better one" not in system(budget=Budget(rounds=1))


def test_tables_are_mentioned_only_if_shown() -> None:
    """The published procedure and runs of one round show none."""
    assert "Tables of steps" in system()
    assert "Tables of steps" not in system(recipe="paper")
    assert "Tables of steps" not in system(budget=Budget(rounds=1))


def test_system_prompt_is_pinned(snapshot: SnapshotAssertion) -> None:
    """The contract and the spec, which begin every call of a run."""
    assert system() == snapshot


def test_system_prompt_without_tuning_is_pinned(snapshot: SnapshotAssertion) -> None:
    """It does not mention PARAMS."""
    text = system(tune="none", success=True, horizon=None, clip_actions=False)
    assert "PARAMS" not in text
    assert "clipped" not in text
    assert text == snapshot


@pytest.mark.parametrize(
    "more",
    [{}, {"variant": 2}, {"winners": ()}],
)
def test_first_prompt_is_pinned(snapshot: SnapshotAssertion, more: Any) -> None:
    assert prompting.policy_prompt(Plan(1, 0, "first", **more), context(), max_tokens=1000) == snapshot


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("improve", {"variant": 2}),
        ("improve", {"parents": ()}),
        ("worst_initial_states", {}),
        ("new_structure", {"stalled": 0}),
        ("new_structure", {}),
    ],
)
def test_later_prompts_are_pinned(snapshot: SnapshotAssertion, kind: str, more: Any) -> None:
    """Each kind of request of a later round, with and without recent progress."""
    prompt_context, more = context(), {**more}
    prompt_context.history.stalled = more.pop("stalled", 2)
    assert prompting.policy_prompt(plan(kind, **more), prompt_context, max_tokens=10_000) == snapshot


def test_the_published_prompt_is_pinned(snapshot: SnapshotAssertion) -> None:
    """It has every winner with its code and episodes, and all reflections."""
    prompt_context = context()
    prompt_context.history.reflections = ["It must look ahead."]
    winners = plan("improve", winners=(PARTNER, BEST))
    assert prompting.policy_prompt(winners, prompt_context, max_tokens=10_000) == snapshot


OTHERS: list[Any] = [
    ("formaliser", {"spec": "class State: ...", "source": "class Env: ..."}),
    (
        "repair",
        {
            "subject": "policy",
            "what": "crashed",
            "source": "x = 1",
            "error": "line 1: bad",
            "detail": "Traceback",
        },
    ),
    (
        "repair",
        {
            "subject": "feedback class",
            "what": "failed",
            "source": "x = 1",
            "error": "bad",
            "detail": "",
            "form": prompting.form_of_trajectory(True, sees_all=True),
        },
    ),
    ("continue", {"what": "was cut off", "shorter": 120}),
    (
        "reflection",
        {"title": "r1c1", "code": "x = 1", "feedback": "Mean return 3.", "earlier": ["r1c2: 4"]},
    ),
    ("feedback_class", {"form": "a list.", "sees_all": True, "legend": True, "most": 600}),
    ("feedback_class", {"form": "a list.", "sees_all": False, "legend": False, "most": 600}),
    ("feedback_system", FORMS),
    ("probe", {"most": 3, "later": True, "gaps": ["what a flag stands for"]}),
    (
        "probe_system",
        {
            **FORMS,
            "allowance": "2 episodes",
            "form": "a dict.",
            "most": 3000,
            "fit": "FIT:",
            "example": "x = 1",
        },
    ),
    ("probe_example", {"sees": "numbers", "acts": "numbers", "n": 2, "amount": 0.5}),
    (
        "teacher",
        {
            "score": "300",
            "endings": "",
            "episodes": ["It stood."],
            "legend": "T = steps",
            "table": "step|lean",
        },
    ),
    ("looking", on_looking(spaces.Box(0, 255, (64, 64, 3), np.uint8))),
    ("goal_system", {**FORMS, "goal": "Stand on the left."}),
    ("goal_reward", {"horizon": 500, "info": [("x_position", -1.0, 2.0)]}),
    ("goal_pairs", {"episodes": EPISODES, "pairs": [("1", "2")]}),
    (
        "goal_rewrite",
        {
            "source": "x = 1",
            "disagreements": ["1 over 2."],
            "successes": ["It pays all."],
            "episodes": EPISODES,
        },
    ),
    (
        "goal_verdict",
        {
            "tested": [("100 test episodes", "All ended.")],
            "references": ["zero: returns 3"],
            "episodes": EPISODES,
            "pairs": [("1", "2")],
            "others": True,
        },
    ),
    (
        "simulator_system",
        {
            "spec": "A task.",
            "source": False,
            "body": True,
            "engine": True,
            "horizon": 100,
            "success": False,
            "obs_lanes": "a float array [n, 3]",
            "action_lanes": "an int array [n]",
        },
    ),
    (
        "simulator_recorded",
        {
            "steps": 300,
            "count": "4 episodes",
            "ended": "9, 12",
            "rows": "step|x|reward",
            "ending": "step|x",
            "known": "# Experiments",
        },
    ),
    ("simulator", {"recorded": "# Recorded steps", "repairs": 3}),
    (
        "simulator_repair",
        {
            "recorded": "# Recorded steps",
            "code": "x = 1",
            "exact": False,
            "problems": [],
            "detail": "",
            "remarks": ["obs[1] grows"],
            "numbers": "number|stated",
            "errors": "obs[0] | 0.99",
            "worlds": "- random: real 1, simulated 2",
            "earlier": "it explains more",
            "left": "2 more",
            "fallen": "step|height|reward",
        },
    ),
    (
        "simulated_system",
        {
            "spec": "A task.",
            "source": True,
            "horizon": 100,
            "success": False,
            "limits": SANDBOX_LIMITS,
            "observation": "`obs[0]` is a number",
            "action": "a list of 2 numbers",
            "example": "[push, -push]",
        },
    ),
    (
        "simulated_structures",
        {"evidence": "- random: real 1", "steps": 1_000_000, "horizon": 1000},
    ),
    (
        "simulated_growth",
        {
            "best": "p1",
            "results": ["A clock. Simulated return 3 ± 0.5, from 1 to 6."],
            "code": "x = 1",
            "behaviour": "4 episodes",
            "longer": (SimpleNamespace(id="p1", value=3.0), SimpleNamespace(id="p1", value=2.9)),
            "longer_steps": 8_000_000,
            "at_bounds": "gain, limit",
            "left": 1,
            "steps": 4_000_000,
            "network": "A network. Simulated return 5.",
        },
    ),
    (
        "simulated_later",
        {
            "verified": ["program p1: simulated return 3, real 1 in 2 episodes"],
            "tuned": {"s1": None, "r1c1": SimpleNamespace(value=3.25)},
        },
    ),
    (
        "probe_offer",
        {"allowance": "2 episodes", "form": "a dict.", "most": 3000, "fit": "FIT:"},
    ),
]


@pytest.mark.parametrize(("template", "values"), OTHERS)
def test_other_prompts_are_pinned(snapshot: SnapshotAssertion, template: str, values: Any) -> None:
    assert prompting.render(template, **values) == snapshot


def test_every_template_is_pinned() -> None:
    """A new template needs an entry in OTHERS; the parts of a request are pinned with it."""
    filled = {"system", "time_limits", "first", "later", "request", "improve", *(mark[0] for mark in OTHERS)}
    templates = prompting._templates().list_templates()
    assert {name.partition(".")[0] for name in templates} == filled


def test_missing_value_is_an_error() -> None:
    with pytest.raises(Exception, match="undefined"):
        prompting.render("reflection", title="r1c1")


def test_only_continuous_actions_are_clipped() -> None:
    """A continuous part at any depth counts."""
    box = spaces.Box(-1, 1, (2,))
    assert prompting.is_continuous(spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Tuple((box,))}))
    assert not prompting.is_continuous(spaces.Dict({"a": spaces.MultiDiscrete([2, 3])}))
