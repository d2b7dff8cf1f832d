"""Several models in a run: the bandit that chooses between them, and what each is said to have brought."""

import zlib
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.show import overview, overview_json
from promptpo.errors import UsageError
from promptpo.llm.base import Completion, Request
from promptpo.llm.ensemble import EnsembleLLM
from promptpo.llm.scripted import ScriptedLLM
from promptpo.run.journal import read_run
from promptpo.search.model_choice import Pull, allotment
from tests.promptpo.optimizing import QUICK
from tests.promptpo.policies import CRASH, FEEDBACK, GOOD, WEAK, variant


def done(model: Any, *rewards: Any, usd: Any = None) -> Any:
    """Pulls of one model."""
    return [Pull(model, reward, usd, 1) for reward in rewards]


def test_every_model_is_asked_before_any_is_asked_again() -> None:
    """In the order in which they are named."""
    assert allotment(["a", "b", "c"], [], 3) == ["a", "b", "c"]
    assert allotment(["a", "b"], done("a", 1.0, 1.0, 1.0), 1) == ["b"]


def test_the_one_that_brings_more_is_asked_more() -> None:
    """At the same price; the other is still asked now and then."""
    asked = allotment(["a", "b"], done("a", *[0.7] * 20) + done("b", *[0.4] * 20), 80)
    assert asked.count("a") > 25
    assert asked.count("b") > 0


def test_dollars_count_where_all_prices_are_known() -> None:
    """The same reward for a tenth of the money is ten times as much; without a price calls are counted."""
    cheap, dear = done("cheap", *[0.5] * 10, usd=0.01), done("dear", *[0.6] * 10, usd=0.1)
    assert set(allotment(["dear", "cheap"], cheap + dear, 4)) == {"cheap"}
    free = done("cheap", *[0.1] * 30, usd=0.0) + done("dear", *[0.9] * 30, usd=0.1)
    assert set(allotment(["cheap", "dear"], free, 4)) == {"dear"}
    unknown = done("cheap", *[0.1] * 30) + done("dear", *[0.9] * 30, usd=0.1)
    assert set(allotment(["cheap", "dear"], unknown, 4)) == {"dear"}


def ensemble(asked: Any) -> Any:
    """A good model and a bad one, and a cheap one for repairs; all note who was asked what."""

    def model(name: Any, answer: Any, usd: Any) -> Any:
        def script(request: Request) -> Any:
            asked.append((request.key, name))
            text = (
                FEEDBACK
                if request.purpose == "feedback"
                else variant(answer, zlib.crc32(request.key.encode()))
            )
            return Completion(text, f"{name}-2026", cost_usd=usd)

        return ScriptedLLM(script, name=name)

    return EnsembleLLM(
        [model("good", GOOD, 0.02), model("bad", CRASH, 0.02)], repairer=model("mender", WEAK, 0.001)
    )


RUN = {
    **QUICK,
    "rounds": 4,
    "candidates": 4,
    "repairs": 1,
    "recipe_options": {"racing": 0},
    "max_episode_steps": 100,
}


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of the three models from its beginning to its end, and who was asked what."""
    asked: list[tuple[str, str]] = []
    folder = tmp_path_factory.mktemp("models") / "run"
    run = promptpo.optimize("CartPole-v1", llm=ensemble(asked), out=folder, model_choice="bandit", **RUN)
    return run, asked


def test_a_run_with_several_models_says_what_each_has_brought(straight: Any) -> None:
    """In the journal, result.json, show and the report; the bandit turns to the better one."""
    run, asked = straight
    models = {each["model"]: each for each in run.data["llm"]["models"]}
    assert set(models) == {"good", "bad", "mender"}
    assert models["good"]["candidates"] > models["bad"]["candidates"] > 0
    assert models["good"]["candidates_that_ran"] == models["good"]["candidates"]
    assert models["good"]["best"] == run.data["best"]["candidate"]
    assert models["mender"]["candidates"] == 0
    assert models["mender"]["answers"] == sum(name == "mender" for _, name in asked) > 0
    assert sum(each["cost_usd"] for each in models.values()) == pytest.approx(run.data["llm"]["cost_usd"])
    providers = {event.key: event.data["provider"] for event in read_run(run.directory)["completion"]}
    assert providers == dict(asked)
    assert "good: " in overview(run.directory)
    by_candidate = {each["id"]: each["model"] for each in overview_json(run.directory)["candidates"]}
    assert by_candidate["r1c1"] == "good"
    assert by_candidate["r1c2"] == "bad"
    assert "mender" in (run.directory / "report.html").read_text()
    assert run.data["model"] == "good + bad + mender"


@pytest.mark.slow
def test_the_same_models_are_asked_after_a_resume(straight: Any, tmp_path: Path) -> None:
    """What is chosen follows from completed rounds, so that a run in two parts is the run in one."""
    (whole, asked), parts = straight, []
    promptpo.optimize(
        "CartPole-v1",
        llm=ensemble(parts),
        out=tmp_path / "b",
        model_choice="bandit",
        **{**RUN, "max_calls": 9},
    )
    resumed = promptpo.resume(tmp_path / "b", llm=ensemble(parts), calls=1000)
    assert dict(parts) == dict(asked)
    assert len(parts) == len(dict(parts))
    assert resumed.mean_return == whole.mean_return
    again = promptpo.optimize("CartPole-v1", model=f"replay:{whole.directory}", out=tmp_path / "c", **RUN)
    assert again.source == whole.source
    told = {each["model"]: each["candidates"] for each in again.data["llm"]["models"]}
    assert told == {each["model"]: each["candidates"] for each in whole.data["llm"]["models"]}


ALWAYS = 'import sys\nsys.stdin.read()\nprint("```python\\nclass Policy:\\n    N = {n}\\n    def act(self, obs):\\n        return int(obs[2] + 0.5 * obs[3] > 0)\\n```")\n'


def test_models_by_name_are_written_to_the_run_and_found_again(tmp_path: Path) -> None:
    """As on the command line; a resume makes the same models, with their weights."""
    for n in (1, 2):
        (tmp_path / f"m{n}.py").write_text(ALWAYS.replace("{n}", str(n)))
    models = [f"exec:python {tmp_path}/m1.py", f"2=exec:python {tmp_path}/m2.py --x=3"]
    quick = {**QUICK, "rounds": 1, "candidates": 3, "recipe_options": {"feedback_class": False}}
    run = promptpo.optimize(
        "CartPole-v1", model=models, repair_model=models[0], out=tmp_path / "run", **quick
    )
    assert {each["model"] for each in run.data["llm"]["models"]} == {models[0], models[1][2:]}
    assert run.data["model"] == "exec:python + exec:python + exec:python"
    more = promptpo.resume(run.directory, rounds=2)
    assert sum(each["candidates"] for each in more.data["llm"]["models"]) == 6


def test_a_bandit_needs_several_models(tmp_path: Path) -> None:
    """Said before anything is asked."""
    with pytest.raises(UsageError, match="at least twice"):
        promptpo.optimize("CartPole-v1", model="exec:cat", model_choice="bandit", out=tmp_path / "run")
    with pytest.raises(UsageError, match="one or the other"):
        promptpo.optimize("CartPole-v1", llm=ScriptedLLM([]), repair_model="exec:cat", out=tmp_path / "run")
