"""One sample: requested, parsed, rolled out, described and repaired; each ends as one typed result."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.budget import Ledger
from promptpo.core.candidate import Attempt
from promptpo.core.config import Budget, Config
from promptpo.core.control import StopReason
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal
from promptpo.core.sample import Sampler
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.errors import FatalProviderError, ProviderError
from promptpo.llm.base import Capabilities, Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.prompts import attach_prompts
from promptpo.recipes.default import plan_round
from promptpo.spec.describe import describe
from promptpo_sandbox import Failure
from tests.promptpo.fake_executor import FakeExecutor
from tests.promptpo.policies import CRASH, GOOD, WEAK


@pytest.fixture(scope="module")
def spec() -> Any:
    """The spec of CartPole."""
    return describe(Task("CartPole-v1"))


def play(source: Any, trial: Any) -> Any:
    """Return or failure by program, without running it."""
    if "[0, 1][7]" in source:
        return Failure("crashed", "line 3: IndexError", seed=trial.seed, step=0)
    return 500.0 if "0.5 * obs[3]" in source else 40.0


class SamplerBench:
    """A sampler on a run with fake rollouts."""

    def __init__(self, directory: Any, spec: Any, model: Any, *, horizon: int = 10, **settings: Any) -> None:
        limits = settings.pop("limits", {})
        options = {"feedback_class": False, **settings.pop("options", {})}
        self.config = Config(
            Task("CartPole-v1"), episodes=2, budget=Budget(**limits), recipe_options=options, **settings
        )
        self.journal = Journal(directory)
        ledger = Ledger(self.config.budget, self.journal.events)
        self.journal.listen(ledger.add)
        self.executor = FakeExecutor(play)
        work = RecordedWork(ScriptedLLM(model), self.executor, self.config, self.journal, ledger)
        self.context = attach_prompts(SearchContext(spec, self.config, work, horizon))
        self.sampler = Sampler(self.context)
        self.history = History()

    def sample(self, slot: int = 0) -> Any:
        """Return one sample of the first round."""
        self.sampler.begin_round(self.history)
        plan = plan_round(self.context, self.history, slot + 1)[slot]
        return asyncio.run(self.sampler.sample(plan, self.history))


def test_answer_becomes_an_attempt(tmp_path: Path, spec: Any) -> None:
    """The attempt has returns, feedback and its calls, and is recorded once."""
    bench = SamplerBench(tmp_path, spec, lambda _: GOOD)
    attempt = bench.sample()
    assert isinstance(attempt, Attempt)
    assert attempt.evaluation.returns == (500.0, 500.0)
    assert "500" in attempt.feedback
    assert attempt.candidate.calls == ("r1.c1",)
    kinds = [event.kind for event in bench.journal.events if event.kind != "decision"]
    assert kinds == ["prompt", "completion", "evaluation", "feedback", "attempt"]
    assert bench.sample() == attempt
    assert len(bench.journal.events) == len(kinds) + 1


def test_broken_program_is_repaired(tmp_path: Path, spec: Any) -> None:
    """Both evaluations stay in the journal."""
    bench = SamplerBench(tmp_path, spec, lambda request: WEAK if "repair" in request.key else CRASH)
    attempt = bench.sample()
    assert (attempt.evaluation.outcome, attempt.candidate.repairs) == ("ok", 1)
    assert attempt.candidate.calls == ("r1.c1", "r1.c1.repair1")
    outcomes = [event.data["evaluation"]["outcome"] for event in bench.journal.of_kind("evaluation")]
    assert outcomes == ["crashed", "ok"]
    assert [event.data["repairs"] for event in bench.journal.of_kind("evaluation")] == [0, 1]


@pytest.mark.parametrize("answer", [CRASH, "No code."])
@pytest.mark.parametrize("learns", [True, False])
def test_program_search_is_not_asked_for_repairs(
    tmp_path: Path, spec: Any, answer: str, learns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads no text, even if it claims to support every purpose."""
    asked = list[str]()

    def model(request: Request) -> str:
        asked.append(request.key)
        return answer

    able = Capabilities(language_model=learns)
    monkeypatch.setattr(ScriptedLLM, "capabilities", property(lambda _: able, lambda *_: None), raising=False)
    SamplerBench(tmp_path, spec, model).sample()
    assert (asked == ["r1.c1"]) == (not learns)


@pytest.mark.parametrize(("error", "fatal"), [(ProviderError, False), (FatalProviderError, True)])
def test_provider_error_is_a_result(tmp_path: Path, spec: Any, error: Any, fatal: bool) -> None:
    """Fatal errors keep their type."""

    def silent(_: Any) -> None:
        raise error("no.")

    found = SamplerBench(tmp_path, spec, silent).sample()
    assert isinstance(found, ProviderError)
    assert (str(found), isinstance(found, FatalProviderError)) == ("no.", fatal)


def test_exhausted_budget_is_a_result(tmp_path: Path, spec: Any) -> None:
    """If only steps are lacking, the answer is kept."""
    assert isinstance(
        SamplerBench(tmp_path / "calls", spec, lambda _: GOOD, limits={"calls": 1}).sample(), Attempt
    )
    full = SamplerBench(tmp_path / "more", spec, lambda _: GOOD, limits={"calls": 1})
    full.sample(0)
    second = full.sample(1)
    assert isinstance(second, StopReason)
    assert "1 language-model calls" in str(second)
    poor = SamplerBench(tmp_path / "steps", spec, lambda _: GOOD, limits={"steps": 5})
    assert isinstance(poor.sample(), StopReason)
    assert [event.key for event in poor.journal.of_kind("completion")] == ["r1.c1"]


def test_unaffordable_repair_keeps_the_outcome(tmp_path: Path, spec: Any) -> None:
    attempt = SamplerBench(tmp_path, spec, lambda _: CRASH, limits={"calls": 1}).sample()
    assert isinstance(attempt, Attempt)
    assert attempt.evaluation.outcome == "crashed"


def test_equal_programs_of_a_round_share_rollouts(tmp_path: Path, spec: Any) -> None:
    bench = SamplerBench(tmp_path, spec, lambda _: GOOD)
    bench.sampler.begin_round(bench.history)
    plans = plan_round(bench.context, bench.history, 2)

    async def both() -> Any:
        return await asyncio.gather(*(bench.sampler.sample(plan, bench.history) for plan in plans))

    first, second = asyncio.run(both())
    assert first.evaluation == second.evaluation
    assert len(bench.executor.asked) == 1
