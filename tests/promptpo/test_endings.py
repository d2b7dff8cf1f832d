"""How a search ends, resumes and is replayed: budgets, failing providers, recorded answers."""

from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.show import overview
from promptpo.core.candidate import Seeds
from promptpo.envs.task import Task
from promptpo.errors import FatalProviderError, ProviderError
from promptpo.llm.base import Completion, Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.exporting import Provenance, export_text
from promptpo.output.report.result import summarize_evaluation
from promptpo.output.sentences import sentence
from promptpo.rollouts.evaluation import Evaluation
from tests.promptpo.optimizing import QUICK, Model, attempts_of, optimize, read_run
from tests.promptpo.policies import FEEDBACK, GOOD, WEAK, variant


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"max_calls": 3}, "3 language-model calls"),
        ({"max_steps": 500, "max_episode_steps": 100}, "500 environment steps"),
    ],
)
def test_budgets_end_a_run_with_its_best_policy(tmp_path: Path, limit: Any, reason: str) -> None:
    """A limit is never exceeded."""
    model = Model({"r1.c1": WEAK, "r1.c2": variant(WEAK, 1)}, default=variant(WEAK, 2))
    run = optimize(model, tmp_path / "run", rounds=5, candidates=2, **limit)
    assert reason in run.stop_reason
    assert run.policy_path.exists()
    assert len(model.requests) <= limit.get("max_calls", 99)
    searched = sum(
        steps for purpose, steps in run.data["steps"].items() if purpose in {"train", "validation", "tune"}
    )
    assert searched <= limit.get("max_steps", 10**9)


def test_refusals_are_not_called_cut_off(tmp_path: Path) -> None:
    """More tokens would not help."""
    run = optimize(
        Model(default=Completion("", "m", finish="refusal")), tmp_path / "run", rounds=1, candidates=2
    )
    assert run.data["verdict"].startswith("No policy ran: all of 2 failed")


def test_cost_limit_ends_a_run(tmp_path: Path) -> None:
    def model(request: Request) -> Any:
        text = FEEDBACK if request.purpose == "feedback" else variant(WEAK, int(request.key[1]) * 7)
        return Completion(text, "m", cost_usd=0.4)

    run = promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(model),
        out=tmp_path / "run",
        max_usd=1.5,
        candidates=1,
        rounds=9,
        **QUICK,
    )
    assert "$1.5" in run.stop_reason
    assert run.data["llm"]["cost_usd"] == pytest.approx(1.6)


@pytest.fixture(scope="module")
def two_round_run(tmp_path_factory: pytest.TempPathFactory) -> promptpo.RunResult:
    """A run of two rounds, the second of which brings the good policy."""
    out = tmp_path_factory.mktemp("straight") / "first"
    result: promptpo.RunResult = optimize(Model({"r2.c1": GOOD}), out, rounds=2, candidates=2)
    return result


def test_extended_run_repeats_no_call(two_round_run: promptpo.RunResult, tmp_path: Path) -> None:
    """Besides the new round it requests only a feedback class, and ends like a single run of two rounds."""
    model = Model({"r2.c1": GOOD})
    optimize(model, tmp_path / "run", rounds=1, candidates=2)
    asked = len(model.requests)
    extended = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(model), rounds=2)
    assert "feedback" not in model.asked()[:asked], "one round shows nobody its texts"
    assert {request.key[:2] for request in model.requests[asked:]} == {"fe", "r2"}
    assert extended.mean_return == two_round_run.mean_return
    assert extended.source == two_round_run.source
    assert (
        promptpo.resume(tmp_path / "run", llm=ScriptedLLM(lambda _: pytest.fail("asked again"))).data["best"]
        == extended.data["best"]
    )


def test_run_is_replayed_from_its_journal(two_round_run: promptpo.RunResult, tmp_path: Path) -> None:
    """`replay:RUN` gives the same result without the model."""
    again = promptpo.optimize(
        "CartPole-v1",
        model=f"replay:{two_round_run.directory}",
        out=tmp_path / "again",
        rounds=2,
        candidates=2,
        **QUICK,
    )
    assert again.mean_return == two_round_run.mean_return
    assert again.source == two_round_run.source
    assert again.data["model"].startswith("replay:first")
    assert (
        str(two_round_run.directory.parent) not in (tmp_path / "again" / "best.py").read_text()
    )  # the file may be shared, so it contains no local path


def test_model_that_never_answers_is_an_error(tmp_path: Path) -> None:
    """The provider's sentence is raised, and the run can be resumed."""

    def silent(_: Any) -> None:
        raise ProviderError("the server at 127.0.0.1 does not answer.")

    with pytest.raises(ProviderError, match="does not answer"):
        optimize(silent, tmp_path / "run", rounds=2, candidates=2)
    run = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(Model(default=GOOD)))
    assert run.mean_return > 90


def test_answers_before_a_fatal_error_are_evaluated(tmp_path: Path) -> None:
    """The run can be resumed with another key."""

    def withdrawn(request: Request) -> Any:
        if request.purpose == "feedback":
            return FEEDBACK
        if request.key == "r1.c1":
            return GOOD
        raise FatalProviderError("the key was withdrawn.")

    run = optimize(withdrawn, tmp_path / "run", rounds=2, candidates=3)
    assert "the key was withdrawn" in run.stop_reason
    assert run.data["best"]["candidate"] == "r1c1"
    assert run.mean_return > 90
    again = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(Model(default=WEAK)))
    attempts = [event.key for event in read_run(tmp_path / "run")["attempt"]]
    assert {"r1c1", "r1c2", "r1c3"} <= set(attempts)
    assert again.data["best"]["candidate"] == "r1c1"


def test_model_that_stops_answering_ends_the_run_with_its_best(tmp_path: Path) -> None:
    def fading(request: Request) -> Any:
        if request.key.startswith("r2"):
            raise ProviderError("quota used up.")
        return FEEDBACK if request.purpose == "feedback" else GOOD

    run = optimize(fading, tmp_path / "run", rounds=3, candidates=2)
    assert "quota used up" in run.stop_reason
    assert run.mean_return > 90


def test_unanswered_sample_of_a_finished_round_is_not_repeated(tmp_path: Path) -> None:
    """Later rounds were decided without it."""
    silent = True

    def model(request: Request) -> Any:
        if request.key == "r1.c2" and silent:
            raise ProviderError("overloaded.")
        return FEEDBACK if request.purpose == "feedback" else WEAK if request.key != "r2.c1" else GOOD

    first = optimize(model, tmp_path / "run", rounds=2, candidates=2)
    silent = False
    again = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(model), rounds=3)
    assert "r1c2" not in attempts_of(again)
    assert "overloaded" in overview(tmp_path / "run")
    assert again.data["best"] == first.data["best"]


def test_answers_within_the_call_limit_are_evaluated(tmp_path: Path) -> None:
    """The sample that exceeds the limit does not affect the others."""
    model = Model({"r1.c1": WEAK, "r1.c2": GOOD})
    run = optimize(model, tmp_path / "run", rounds=5, candidates=4, max_calls=3)
    assert "3 language-model calls" in run.stop_reason
    assert model.asked() == ["feedback", "r1.c1", "r1.c2"]
    assert run.data["best"]["candidate"] == "r1c2"
    assert run.mean_return > 90
    more = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(model), calls=5)
    assert model.asked() == ["feedback", "r1.c1", "r1.c2", "r1.c3", "r1.c4"]
    assert set(attempts_of(more)) == {"r1c1", "r1c2", "r1c3", "r1c4"}


CRASHES_LATE = """```python
class Policy:
    def act(self, obs):
        if obs[0] > 0.03 and not hasattr(self, "begun"):
            raise ValueError("too far right")
        self.begun = True
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
```
"""
"""Fails at once if the cart starts far to the right, as in about one of five initial states."""


@pytest.mark.slow
def test_failed_test_episodes_are_reported(tmp_path: Path) -> None:
    """They count as the worst episodes, and result, file and terminal state their number."""
    run = optimize(
        Model(default=CRASHES_LATE), tmp_path / "run", rounds=1, episodes=1, validation_episodes=1,
        candidates=1, test_episodes=24, repairs=0, seed=1,
    )  # fmt: skip
    test = run.data["test"]
    assert test["episodes"] == 24
    assert 1 <= test["failed_episodes"] < 12
    assert "too far right" in test["failure"]
    assert test["returns"].count(min(test["returns"])) > test["failed_episodes"]
    assert f"{test['failed_episodes']} of 24" in run.policy_path.read_text()
    assert f"{test['failed_episodes']} of 24" in overview(run.directory)


def test_policy_that_fails_every_test_episode_has_no_return() -> None:
    """A sentence says why."""
    crashed = Evaluation("crashed", (), 20, error="line 3: ValueError: too far right", failed=10)
    test = summarize_evaluation(crashed, Task("E"), horizon=20, seeds=Seeds().test)
    assert test is not None
    assert (test["mean_return"], test["episodes"], test["failed_episodes"]) == (None, 10, 10)
    text = sentence("failures", test)
    assert text == "The policy failed in 10 of 10 test episodes: line 3: ValueError: too far right"
    facts = Provenance(Task("E"), "m", "r", "c", {"test": test})
    assert "failed in 10 of 10" in export_text("class Policy: ...", facts, action_space=None)


@pytest.mark.slow
def test_endless_episodes_are_cut_to_fit_the_budget(tmp_path: Path) -> None:
    """Every candidate gets a result."""
    run = promptpo.optimize(
        "tests.environments:Test/Endless-v0", out=tmp_path / "run", max_steps=9_000, rounds=2, candidates=2,
        model="search", test_episodes=2,
    )  # fmt: skip
    assert run.data["best"] is not None
    searched = {"train", "validation", "tune", "spec", "probe"}
    assert sum(n for purpose, n in run.data["steps"].items() if purpose in searched) <= 9_000


@pytest.mark.slow
def test_paper_recipe_runs_all_its_rounds(tmp_path: Path) -> None:
    """It has no threshold to stop at, and shows every reflection again."""
    feedback = FEEDBACK.replace('trajectory["observations"]', "trajectory")  # as published

    def model(request: Request) -> Any:
        return {"feedback": feedback, "reflection": f"Lesson of {request.key}."}.get(request.purpose, GOOD)

    requests = []

    def recording_model(request: Request) -> Any:
        requests.append(request)
        return model(request)

    run = optimize(recording_model, tmp_path / "run", rounds=3, candidates=1, recipe="paper", stop_at=10.0)
    assert run.data["rounds"] == 3
    last = next(request for request in requests if request.key == "r3.c1").messages[-1].content
    assert "Lesson of r1.reflection" in last
    assert "Lesson of r2.reflection" in last
    assert "the largest lean was" in last
