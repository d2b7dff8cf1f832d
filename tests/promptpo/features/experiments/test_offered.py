"""When experiments are offered, and how many steps they may take."""

from pathlib import Path
from typing import Any

import promptpo
from promptpo.core.config import Budget, Config
from promptpo.envs.task import Task
from promptpo.features.experiments.settings import allowance, count_experiments
from promptpo.features.program_search import SearchLLM
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.features.experiments.test_feature import GOOD, probe_answer
from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import WEAK, variant


def test_middle_rounds_accept_one_experiment_each(tmp_path: Path) -> None:
    """The first sample's experiment is run; the policy beside it is still used."""
    model = Model(
        {
            "probe": "NONE: let me see.",
            "r2.c1": variant(WEAK, 1),
            "r2.c2": GOOD,  # without a policy: requested again, but the experiment is kept
            "r2.c2.again": variant(WEAK, 2),
            "r2.c3": variant(WEAK, 3) + "\n" + probe_answer(idea="Another."),
        }
    )
    llm = ScriptedLLM(model, purposes=ALL_PURPOSES)
    run = promptpo.optimize(
        "CartPole-v1",
        llm=llm,
        out=tmp_path / "run",
        rounds=3,
        candidates=3,
        episodes=2,
        validation_episodes=2,
        test_episodes=2,
        stop_at=501.0,
        recipe_options={"feedback_class": False, "tune": False},
    )
    events = read_run(run.directory)
    assert [event.key for event in events["experiment"]] == ["p0.0", "p2.1"]
    assert events["experiment"][1].data["call"] == "r2.c2"
    prompts = {request.key: request.messages[-1].content for request in model.requests}
    assert not any("class `Probe`" in prompts[f"r{n}.c1"] for n in (1, 3))
    assert all("class `Probe`" in prompts[f"r2.c{n}"] for n in (1, 2, 3))
    assert all("# Results of experiments\n\np2.1" in prompts[f"r3.c{n}"] for n in (1, 2, 3))
    assert "steps to the left" in prompts["r3.c1"]
    assert all(event.data["evaluation"]["outcome"] == "ok" for event in events["evaluation"])


def test_allowance_for_experiments() -> None:
    """Small budgets, program search and the recipes `paper` and `evolve` have none."""

    def allowance_of(model: Any = None, **settings: Any) -> Any:
        budget = settings.pop("budget", {})
        config = Config(Task("CartPole-v1"), budget=Budget(**budget), **settings)
        return allowance(config, model or ScriptedLLM([], purposes=ALL_PURPOSES))

    whole = allowance_of()
    assert (whole.probe_steps, count_experiments(5)) == (1000, 6)
    assert allowance_of(budget={"steps": None}) == whole
    assert allowance_of(budget={"steps": 60_000}).probe_steps == 500
    assert allowance_of(budget={"steps": 11_000}) is None
    assert allowance_of(budget={"steps": 11_000}, recipe_options={"probe": True}) == whole
    assert allowance_of(recipe_options={"probe_steps": 3000}).probe_steps == 3000
    assert allowance_of(budget={"calls": 9}) is None
    assert allowance_of(recipe_options={"probe": False}) is None
    assert allowance_of(recipe="paper") is None
    assert allowance_of(recipe="evolve") is None
    assert allowance_of(recipe="model").probe_steps == 1000
    assert allowance_of(ScriptedLLM([])) is None
    assert allowance_of(SearchLLM()) is None


def test_older_run_resumes_without_experiments(tmp_path: Path) -> None:
    model = Model(default=WEAK)
    optimize(model, tmp_path / "run", rounds=1, candidates=1, episodes=2)
    again = Model(default=variant(WEAK, 2))
    promptpo.resume(tmp_path / "run", llm=ScriptedLLM(again, purposes=ALL_PURPOSES), rounds=2)
    assert "r2.c1" in again.asked()
    assert "probe" not in again.asked()
