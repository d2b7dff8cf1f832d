"""The formaliser's spec is verified against recorded steps before it is used."""

from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.envs.task import Task
from promptpo.llm.scripted import DEFAULT_PURPOSES, ScriptedLLM
from promptpo.spec.describe import describe
from promptpo.spec.formalised import (
    TARGET,
    check_against_steps,
    check_inputs,
    check_module,
    formalise,
    functions_in,
)
from promptpo.spec.reading import names_of, read
from promptpo.spec.render import render
from promptpo_sandbox import Sandbox
from tests.promptpo.optimizing import QUICK, Model, read_run

ANSWER = '''"""Keep a pole upright."""


class State:
    def __init__(self, obs):
        self.place = obs[0]  # m; of the cart
        self.lean = obs[2]  # rad; 0 is upright
        self.nothing = obs[9]  # is not there


class Action:
    LEFT = 0
    RIGHT = 1


def reward(obs, action, next_obs):
    """1 a step."""
    return {reward}


def terminated(obs, action, next_obs):
    """Far out, or leaning."""
    return bool(abs(next_obs[0]) > 2.4 or abs(next_obs[2]) > {angle})


EPISODE = {{"start": "about upright", "end": "it leans"}}
'''
RIGHT = ANSWER.format(reward="1.0", angle=0.20943951)
TASK = Task("CartPole-v1")


@pytest.fixture(scope="module")
def sandbox() -> Any:
    """A sandbox shared by the tests of this module."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("reward", "angle", "wrong"),
    [
        ("1.0", 0.20943951, set()),
        ("None", 0.20943951, set()),
        ("2.0", 0.20943951, {"reward"}),
        ("1.0", 0.1, {"terminated"}),
        ("1 / 0", 9.0, {"reward", "terminated"}),
    ],
)
def test_formalised_functions_are_verified_on_recorded_steps(
    sandbox: Any, reward: str, angle: float, wrong: set[str]
) -> None:
    """One contradicting step is enough; None abstains."""
    spec = describe(TASK, reveal="named")
    assert spec.evidence is not None
    reading = read(ANSWER.format(reward=reward, angle=angle))
    result = sandbox.call(check_module(reading), TARGET, check_inputs(spec.evidence))
    assert result.failure is None
    assert set(check_against_steps(result.value, spec.evidence)) == wrong


def test_verified_names_and_functions_enter_the_spec() -> None:
    """Contradicted functions and non-existent indices are left out; observed ranges are kept."""
    spec = describe(TASK, reveal="named")
    assert spec.evidence is not None
    text = render(formalise(spec.evidence.parts, RIGHT, ["terminated"], spec.firsts[0], spec.action_space))
    assert {"obs[0]": "place", "obs[2]": "lean"}.items() <= names_of(text).items()
    assert "nothing" not in text
    assert "-4.8 .. 4.8" in text.partition("self.place")[2].partition("\n")[0]
    assert "of the cart" in text
    assert set(functions_in(read(text))) == {"reward"}
    assert "return 1.0" in text
    assert "Step rewards over" in text.replace("\n    ", " ")


def test_source_is_evidence_and_not_in_the_spec() -> None:
    """The formaliser reads the source; policies must not."""
    spec = describe(TASK, reveal="named")
    assert spec.evidence is not None
    assert "thetaacc" in spec.evidence.source
    assert "thetaacc" not in spec.text
    assert describe(TASK, reveal="source").evidence is None


def run_with_answers(out: Path, *answers: str) -> Any:
    """Run briefly with these answers to the request for a spec; return the model and the spec."""
    keys = ("spec", "spec.repair")
    model = Model({key: f"```python\n{text}\n```" for key, text in zip(keys, answers, strict=False)})
    promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(model, purposes=DEFAULT_PURPOSES | {"spec"}),
        out=out,
        reveal="named",
        rounds=1,
        **QUICK,
    )
    return model, read_run(out)["spec"][0].data["text"]


def test_correct_formalisation_is_requested_once(tmp_path: Path) -> None:
    """The spec is saved in the run's folder and used in prompts."""
    model, text = run_with_answers(tmp_path / "run", RIGHT)
    assert [key for key in model.asked() if key.startswith("spec")] == ["spec"]
    assert "self.place" in text
    assert (tmp_path / "run" / "spec.py").read_text() == text
    assert any("self.place" in request.system for request in model.requests)


def test_contradicted_function_is_left_out_after_one_repair(tmp_path: Path) -> None:
    """The spec notes the omission in a comment."""
    wrong = ANSWER.format(reward="2.0", angle=0.20943951)
    model, text = run_with_answers(tmp_path / "run", wrong, wrong)
    assert [key for key in model.asked() if key.startswith("spec")] == ["spec", "spec.repair"]
    assert "disagrees with" in str(model.requests[1].messages[-1].content)
    assert "return 2.0" not in text
    assert "# reward: " in text
    assert "def terminated" in text


def test_unusable_formalisation_keeps_the_generated_spec(tmp_path: Path) -> None:
    _, text = run_with_answers(tmp_path / "run", "no", "no")
    assert "pole_angle" in text
