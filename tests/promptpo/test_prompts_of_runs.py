"""Prompts of real runs, and the answers other than a policy that they allow."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import CRASH, FEEDBACK, GOOD, SYNTAX_ERROR, TUNABLE, WEAK, variant

POLICY = """```python
\"\"\"Do the same in every step.\"\"\"
import numpy as np


class Policy:
    def act(self, obs):
        return ACTION
```
"""

TASKS = {
    "CartPole-v1": ("0", "1"),
    "Pendulum-v1": ("np.array([0.1])", "np.array([9.0])"),
    "MiniGrid-Empty-5x5-v0": ("2", "0"),
}

COUNTING = FEEDBACK.replace("class Feedback", 'LEGEND = "turns = n"\n\n\nclass Feedback').replace(
    'return f"the', 'return f"turns {len(angles)}; the'
)

BROKEN = {"r1.c2": CRASH, "r1.c3": SYNTAX_ERROR, "r2.c2": "no code at all", "r2.c3": SYNTAX_ERROR}


def prompts_of(env: Any, recipe: Any, out: Any) -> Any:
    """Return every request of a short run with failing candidates."""
    actions = TASKS[env]
    answers = {"feedback": "no code", **BROKEN, "r2.c1": POLICY.replace("ACTION", actions[1])}
    model = Model(answers, default=POLICY.replace("ACTION", actions[0]))
    small = {"episodes": 3, "validation_episodes": 5, "test_episodes": 2, "repairs": 1}
    promptpo.optimize(
        env,
        llm=ScriptedLLM(model),
        out=out,
        recipe=recipe,
        rounds=3,
        candidates=3,
        max_steps=3000,
        max_episode_steps=60,
        **small,
    )
    return model.requests


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "recipe"),
    [
        ("Pendulum-v1", "default"),
        ("MiniGrid-Empty-5x5-v0", "default"),
        ("CartPole-v1", "paper"),
        ("CartPole-v1", "evolve"),
    ],
)
def test_every_prompt_of_a_run_is_valid(env: Any, recipe: str, tmp_path: Path) -> None:
    """Code compiles, statements are true, and only `paper` repeats a request within a round."""
    requests = prompts_of(env, recipe, tmp_path / "run")
    assert {"policy", "repair"} <= {request.purpose for request in requests}
    broken = SYNTAX_ERROR.split("```python\n")[1].split("```")[0].strip()
    for request in requests:
        contents = [message.content for message in request.messages if message.role == "user"]
        for text in (request.system, *contents):
            assert text.count("```") % 2 == 0 or "```python fence" in text
            for code in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
                if code.strip() != broken:
                    compile(code, request.key, "exec")
            assert not re.search(r"^  .*episode.*step\|", text, re.MULTILINE)  # no table header inside a line
            assert not re.search(r"\b(\d+) of \1 ended|\b0 of \d+ ended|nan|None\b.*return", text)
            if env != "Pendulum-v1":
                assert "clipped" not in text
    for round_ in (1, 2, 3):
        prompts = [r.messages[-1].content for r in requests if re.fullmatch(rf"r{round_}\.c\d", r.key)]
        if prompts:
            assert len(set(prompts)) == (1 if recipe == "paper" else len(prompts))


CEILING = "Nothing is left to gain.\n\nCEILING: the pole stands in every episode until the end."


@pytest.mark.slow
def test_ceiling_answers_end_the_run(tmp_path: Path) -> None:
    """They end it if half of a round without gain say so; there is no repair and no second call."""
    model = Model({"r1.c1": GOOD, "r2.c1": CEILING, "r2.c2": CEILING, "r2.c3": variant(WEAK, 1)})
    run = optimize(model, tmp_path / "run", rounds=6, candidates=3)
    assert "the pole stands in every episode until the end" in run.stop_reason
    assert run.data["rounds"] == 2
    assert not any("again" in key or "repair" in key for key in model.asked())
    assert set(read_run(run.directory)["round"][1].data["ceiling"]) == {"0", "1"}
    assert run.data["best"]["candidate"] == "r1c1"


@pytest.mark.slow
def test_one_ceiling_answer_of_three_does_not_end_a_run(tmp_path: Path) -> None:
    """Nor does any in a round that improved the best."""
    model = Model({"r1.c1": GOOD, "r2.c1": CEILING})
    assert optimize(model, tmp_path / "a", rounds=3, candidates=3).data["rounds"] == 3
    gaining = Model({"r2.c1": CEILING, "r2.c2": GOOD}, default=variant(WEAK, 1))
    assert optimize(gaining, tmp_path / "b", rounds=3, candidates=2).data["rounds"] == 3


@pytest.mark.parametrize(("recipe", "key"), [("default", "r1.c1"), ("paper", "r2.c1")])
def test_ceiling_is_an_answer_only_if_offered(recipe: str, key: str, tmp_path: Path) -> None:
    """In the first round and in the published procedure it counts as an answer without code."""
    model = Model({key: CEILING, f"{key}.again": GOOD})
    run = optimize(model, tmp_path / "run", rounds=2, candidates=1, recipe=recipe)
    assert f"{key}.again" in model.asked()
    assert run.data["rounds"] == 2


QUESTIONS = {
    "r1.c1": TUNABLE,
    "r2.c1": f"{variant(WEAK, 2)}\n{COUNTING}",
    "r3.c1": GOOD,
}
ASKING = {"rounds": 3, "candidates": 2, "max_steps": 5_000}


def test_resumed_run_sends_the_same_prompts(tmp_path: Path) -> None:
    """The run may have been killed after an answer with a new feedback class."""
    whole = Model(QUESTIONS)
    optimize(whole, tmp_path / "whole", **ASKING)

    class Cut(promptpo.Observer):
        def on_event(self, event: Any) -> None:
            if event.kind == "completion" and event.key == "r2.c1":
                raise KeyboardInterrupt

    half = Model(QUESTIONS)
    with pytest.raises(KeyboardInterrupt):
        optimize(half, tmp_path / "half", observer=Cut(), **ASKING)
    promptpo.resume(tmp_path / "half", llm=ScriptedLLM(half))
    first = {r.key: replace(r, situation=None) for r in whole.requests}
    second = {r.key: replace(r, situation=None) for r in half.requests}
    assert first.keys() == second.keys()
    for key, request in first.items():
        assert second[key].messages == request.messages, key
