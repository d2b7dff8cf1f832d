"""Resumed runs: no call is repeated, results are kept, and remaining steps go to the rounds that follow."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import promptpo
from promptpo.core.candidate import Attempt
from promptpo.core.journal import Journal, from_json
from promptpo.errors import EnvironmentFaultError, ProviderError, RunError
from promptpo.llm.base import ALL_PURPOSES, Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from tests.promptpo.optimizing import QUICK, Model, attempts_of, optimize, read_run
from tests.promptpo.policies import CRASH, GOOD, TUNABLE, WEAK, variant

ALWAYS = "```python\nclass Policy:\n    def act(self, obs):\n        return [{}]\n```"


class Fragile(gymnasium.Env[Any, Any]):
    """Ten steps; an action of 0.9 breaks it."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin anew."""
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        """Return the action as reward."""
        if abs(float(action[0]) - 0.9) < 1e-6:
            raise ValueError("the engine broke")
        self.steps += 1
        return np.zeros(1, np.float32), float(action[0]), self.steps >= 10, False, {}


class Endless(Fragile):
    """The same without an end."""

    def step(self, action: Any) -> Any:
        """Never end."""
        obs, reward, *_ = super().step(action)
        return obs, reward, False, False, {}


def keys_of(run: Any, kind: str) -> list[str]:
    """Return the keys of the events of a kind."""
    return [event.key for event in read_run(run.directory).get(kind, [])]


@pytest.mark.slow
def test_outage_leaves_steps_for_later_rounds(tmp_path: Path) -> None:
    """No final tuning takes place."""

    def silent(request: Request) -> str:
        if request.key.startswith("r2"):
            raise ProviderError("quota used up.")
        return TUNABLE

    first = optimize(silent, tmp_path / "run", rounds=3, candidates=1, max_steps=7_000)
    assert first.data["stop_kind"] == "model"
    assert not any(key.startswith("last") for key in keys_of(first, "decision"))
    more = promptpo.resume(first.directory, llm=ScriptedLLM(Model(default=GOOD)), rounds=2)
    assert attempts_of(more)["r2c1"]["outcome"] == "ok"


def test_call_limit_spends_the_remaining_steps_on_tuning(tmp_path: Path) -> None:
    """A resumed run requests no policy that it has no steps to evaluate."""
    model = Model()
    given: Any = {"recipe_options": {"feedback_class": False}, "max_calls": 1, "max_steps": 3_500}
    first = optimize(model, tmp_path / "run", rounds=3, candidates=1, **given)
    assert first.data["stop_kind"] == "budget"
    assert any(key.startswith("r1.last.3500") for key in keys_of(first, "decision"))
    limits = {"steps": first.data["searched_steps"] + 50, "calls": 9}
    asked = len(model.requests)
    more = promptpo.resume(first.directory, llm=ScriptedLLM(model), **limits)
    assert "too few" in more.stop_reason
    assert not any(key.startswith("r2") for key in model.asked()[asked:])


@pytest.mark.parametrize(("second", "first_answer"), [("r1.c1.repair1", CRASH), ("r1.c1.again", "No idea.")])
def test_failed_repair_is_not_requested_again(second: str, first_answer: str, tmp_path: Path) -> None:
    """Its attempt is recorded, so another answer would be paid for and dropped."""
    model = Model({"r1.c1": first_answer, second: ProviderError("overloaded")})
    first = optimize(model, tmp_path / "run", rounds=1, candidates=2, tune="none")
    assert second in model.asked()
    later = Model({second: GOOD})
    more = promptpo.resume(first.directory, llm=ScriptedLLM(later), rounds=2)
    assert second not in later.asked()
    assert {"r2.c1", "r2.c2"} <= {*later.asked()}
    assert attempts_of(more)["r1c1"] == attempts_of(first)["r1c1"]


@pytest.mark.slow
def test_pending_answer_is_kept_if_the_environment_fails(tmp_path: Path) -> None:
    """The answer is paid for."""
    keys = []

    async def answer(request: Request) -> str:
        keys.append(request.key)
        if request.key == "r1.c2":
            await asyncio.sleep(0.5)
        return ALWAYS.format(0.9 if request.key == "r1.c1" else 0.3)

    given = {**QUICK, "max_episode_steps": None, "candidates": 2, "rounds": 1, "tune": "none"}
    with pytest.raises(EnvironmentFaultError):
        promptpo.optimize(f"{__name__}:Fragile", llm=ScriptedLLM(answer), out=tmp_path / "run", **given)
    with pytest.raises(EnvironmentFaultError):
        promptpo.resume(tmp_path / "run", llm=ScriptedLLM(answer))
    assert keys.count("r1.c2") == 1


@pytest.mark.parametrize(
    ("given", "key"), [({"goal": "stay left"}, "goal.reward"), ({"reveal": "named"}, "spec")]
)
def test_ctrl_c_before_the_search_keeps_the_pending_answer(given: Any, key: str, tmp_path: Path) -> None:
    """Nothing more is requested."""
    keys = []

    async def answer(request: Request) -> str:
        keys.append(request.key)
        if len(keys) == 1:
            signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.5)
        return "No idea."

    with pytest.raises(RunError, match=r"interrupted by Ctrl-C before any policy was tried; continue with"):
        promptpo.optimize(
            "CartPole-v1",
            llm=ScriptedLLM(answer, purposes=ALL_PURPOSES - {"simulator", "probe"}),
            out=tmp_path / "run",
            **{**QUICK, "candidates": 1, "rounds": 1, **given},
        )
    with Journal(tmp_path / "run") as journal:
        assert [event.key for event in journal.of_kind("completion")] == keys == [key]


def test_time_limit_includes_writing_the_reward(tmp_path: Path) -> None:
    async def answer(_: Request) -> str:
        await asyncio.sleep(0.6)
        return "No idea."

    with pytest.raises(RunError, match=r"the limit of 0\.3 seconds is reached before any policy was tried"):
        optimize(answer, tmp_path / "run", goal="stay left", max_seconds=0.3, candidates=1, rounds=1)


def add_tuned(directory: Path, value: float, id_: str = "r1c1t", angle: str = "1.0") -> str:
    """Record a possible result of a final tuning of the first candidate, and return its id."""
    with Journal(directory) as journal:
        (event,) = [event for event in journal.of_kind("attempt") if event.key == "r1c1"]
        parent = from_json(Attempt, event.data)
        source = parent.candidate.source.replace("-1.0", angle, 1)
        tuned = {"angle": (-1.0, float(angle))}
        candidate = replace(parent.candidate, id=id_, source=source, digest=angle[-1] * 20, tuned=tuned)
        episodes = tuple(EpisodeRecord(e.seed, value, 100) for e in parent.evaluation.episodes)
        journal.add(
            "attempt", id_, replace(parent, candidate=candidate, evaluation=Evaluation("ok", episodes, 400))
        )
    return id_


@pytest.mark.slow
def test_later_rounds_know_results_of_a_final_tuning(tmp_path: Path) -> None:
    """The tuning may have been interrupted; further resumes do not repeat requests."""
    given = {"candidates": 1, "recipe_options": {"tune": False}}
    optimize(Model(default=TUNABLE), tmp_path / "run", rounds=1, **given)
    tuned = [
        add_tuned(tmp_path / "run", value, f"r1c1{suffix}", f"1.{n}")
        for n, (suffix, value) in enumerate((("t", 90.0), ("t5", 91.0)))
    ]
    model = Model(default=variant(WEAK, 3))
    more = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(model), rounds=2)
    (request,) = [request for request in model.requests if request.key == "r2.c1"]
    assert all(id_ in request.messages[-1].content for id_ in tuned)
    once = read_run(more.directory)
    again = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(model), rounds=3)
    assert model.asked()[-1] == "r3.c1"
    known = [e for e in once["decision"] if ".known" in e.key]
    assert known
    assert [e for e in read_run(again.directory)["decision"] if ".known" in e.key] == known


def test_no_request_after_a_final_tuning_solved_the_task(tmp_path: Path) -> None:
    given = {"candidates": 1, "recipe_options": {"tune": False}, "stop_at": 95.0}
    optimize(Model(default=TUNABLE), tmp_path / "run", rounds=1, **given)
    add_tuned(tmp_path / "run", 100.0)
    model = Model(default=GOOD)
    more = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(model), rounds=2)
    assert more.data["stop_kind"] == "solved"
    assert not any(key.startswith("r2") for key in model.asked())


def test_lower_limit_on_rounds_keeps_finished_rounds(tmp_path: Path) -> None:
    optimize(Model(default=GOOD), tmp_path / "run", rounds=2, candidates=1, tune="none")
    again = promptpo.resume(tmp_path / "run", llm=ScriptedLLM([]), rounds=1)
    assert again.stop_reason.startswith("all 2 rounds are done")


@pytest.mark.slow
def test_finished_round_gets_no_reflection(tmp_path: Path) -> None:
    """The last round had none; in an extended run it would be paid for and dropped."""
    first = optimize(Model(default=GOOD), tmp_path / "run", rounds=1, candidates=1, recipe="paper")
    later = Model(default=GOOD)
    promptpo.resume(first.directory, llm=ScriptedLLM(later), rounds=3)
    assert "r1.reflection" not in later.asked()
    assert "r2.reflection" in later.asked()


@pytest.mark.slow
def test_resumed_run_keeps_its_episode_length(tmp_path: Path) -> None:
    """This holds even if only the budget limits it and has changed."""
    given = {
        **QUICK,
        "max_episode_steps": None,
        "candidates": 2,
        "rounds": 1,
        "tune": "none",
        "max_steps": 3_000,
    }
    first = promptpo.optimize(
        f"{__name__}:Endless",
        llm=ScriptedLLM(Model(default=ALWAYS.format(0.3))),
        out=tmp_path / "run",
        **given,
    )
    later = Model(default=ALWAYS.format(0.4))
    more = promptpo.resume(first.directory, llm=ScriptedLLM(later), rounds=2, steps=30_000)
    steps = {
        e["steps"] for c in read_run(more.directory)["evaluation"] for e in c.data["evaluation"]["episodes"]
    }
    assert steps == {first.data["preflight"]["horizon"]} == {more.data["preflight"]["horizon"]}
