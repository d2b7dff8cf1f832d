"""Experiments are requested, run in the sandbox and reported to later requests; broken ones are repaired once or dropped."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.budget import Ledger
from promptpo.core.config import Budget, Config
from promptpo.core.feature import Feature, SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, ProviderError
from promptpo.features.experiments.feature import Experimenter
from promptpo.features.experiments.records import experiments_in
from promptpo.features.experiments.settings import allowance
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.scripted import ScriptedLLM
from promptpo.prompts.limits import REPORT
from promptpo.rollouts import Settings
from promptpo.rollouts.local import LocalExecutor
from promptpo.spec.describe import describe
from promptpo_sandbox import Limits
from tests.promptpo.fake_executor import FakeExecutor
from tests.promptpo.policies import WEAK


def probe_answer(act: str = "return 0", report: str = "return 'it moved'", idea: str = "Push.") -> str:
    """Return an answer with one experiment for CartPole."""
    return (
        f'```python\n"""{idea}"""\nimport numpy as np\n\n\nclass Probe:\n    def act(self, obs):\n        {act}\n\n'
        f"    def report(self, trajectory):\n        {report}\n```\n"
    )


GOOD = probe_answer(report="return f'{len(trajectory[\"rewards\"])} steps to the left'")


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    """A real worker with short limits of CPU time for experiments."""
    limits = Limits(step_seconds=0.2, call_seconds=0.3, wall_factor=1000.0)
    executor = LocalExecutor(Settings(Task("CartPole-v1"), limits), 1)
    yield executor
    executor.close()


@pytest.fixture(scope="module")
def spec() -> Any:
    """The spec of CartPole."""
    return describe(Task("CartPole-v1"))


class ExperimentBench(Feature):
    """Experiments of a run with a scripted model and a real sandbox."""

    def __init__(
        self, directory: Path, spec: Any, executor: Any, answers: Any, horizon: int = 500, **settings: Any
    ) -> None:
        self.horizon = horizon
        self.directory, self.spec, self.executor, self.answers = directory, spec, executor, answers
        self.config = Config(Task("CartPole-v1"), **{"budget": Budget(), **settings})
        self.asked: list[str] = []
        self.seen: dict[str, int] = {}
        self.requests: dict[str, str] = {}

    def answer(self, request: Any) -> Any:
        """Return the answer for the key of the request."""
        self.asked.append(request.key)
        self.requests[request.key] = request.messages[-1].content
        return self.answers[request.key]

    def prepare(self) -> Any:
        """Return the experiments before the first round, as a new process would have them."""
        self.asked.clear()
        history = History()
        with Journal(self.directory) as journal:
            self.ledger = Ledger(self.config.budget, journal.events)
            journal.listen(self.ledger.add)
            journal.follow(history.add)
            llm = ScriptedLLM(self.answer, purposes=ALL_PURPOSES)
            work = RecordedWork(llm, self.executor, self.config, journal, self.ledger)
            context = SearchContext(self.spec, self.config, work, self.horizon)
            if (allowed := allowance(self.config, llm)) is not None:
                asyncio.run(Experimenter(context, allowed).before_round(0, history))
            self.seen = {event.key: event.data["spent"]["probe"] for event in journal.of_kind("probe")}
            return experiments_in({event.key: event.data for event in journal.of_kind("experiment")})


BROKEN = {
    "gate": (probe_answer("import os\n        return 0"), "rejected before it ran", True),
    "syntax": (probe_answer("return (0"), "rejected before it ran", True),
    "lacking": (
        "```python\nclass Probe:\n    def act(self, obs):\n        return 0\n```",
        "no method report",
        True,
    ),
    "crash": (probe_answer("return [0, 1][7]"), "crashed: line 7: IndexError", True),
    "action": (probe_answer("return 5"), "returned an invalid action: act returned 5", True),
    "hang": (probe_answer("while True: pass"), "took too long", True),
    "report crashes": (
        probe_answer(report="return 1 / 0"),
        "failed in `report`: line 10: ZeroDivisionError",
        False,
    ),
    "report is no text": (probe_answer(report="return 7"), ".report returned 7; return a str", False),
    "report is empty": (
        probe_answer(report="return ' \\n'"),
        "failed in `report`: it returned no text",
        False,
    ),
    "report hangs": (probe_answer(report="while True: pass"), ".report took longer than", False),
}
STAYING = {"gate", "crash", "report is empty"}
"""Kinds for which a failing repair is tested, too: one rejected, one played, one reported."""


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_experiment_is_repaired_once_or_dropped(
    tmp_path: Path, spec: Any, executor: Any, kind: str
) -> None:
    """Repairing the report alone plays no further episodes."""
    answer, problem, plays_again = BROKEN[kind]
    few = {"recipe_options": {"probe_steps": 12}}
    if kind in STAYING:
        stays = ExperimentBench(
            tmp_path / "stays", spec, executor, {"probe": answer, "p0.1.repair1": answer}, **few
        )
        [dropped] = stays.prepare()
        assert dropped.report == ""
        assert problem in dropped.problem
        assert stays.asked == ["probe", "p0.1.repair1"]
    repaired = ExperimentBench(
        tmp_path / "repaired", spec, executor, {"probe": answer, "p0.1.repair1": GOOD}, **few
    )
    [experiment] = repaired.prepare()
    assert (experiment.problem, experiment.repairs, experiment.episodes) == ("", 1, 2)
    assert "steps to the left" in experiment.report
    assert "This probe" in repaired.requests["p0.1.repair1"]
    assert all(part in repaired.requests["p0.1.repair1"] for part in problem.split(": "))
    assert experiment.steps == repaired.ledger.steps["probe"]
    rolled = {key.split(".")[2] for key, steps in repaired.seen.items() if steps > 0}
    assert rolled == ({"1"} if plays_again else {"0"})


def test_long_report_is_shortened(tmp_path: Path, spec: Any, executor: Any) -> None:
    """Each episode keeps what fits, and a note counts the omitted lines."""
    long = probe_answer(report="return '\\n'.join(f'line {n} of a long report' for n in range(400))")
    bench = ExperimentBench(tmp_path, spec, executor, {"probe": long})
    [one] = bench.prepare()
    assert REPORT - 100 < len(one.report) <= REPORT
    assert one.report.count("more lines)") == 1
    assert bench.asked == ["probe"]


def test_broken_experiment_is_dropped_without_repairs(tmp_path: Path, spec: Any, executor: Any) -> None:
    """Other experiments of the same answer are unaffected."""
    both = probe_answer("return [0, 1][7]") + "\n" + GOOD
    bench = ExperimentBench(tmp_path, spec, executor, {"probe": both}, repairs=0)
    first, second = bench.prepare()
    assert (first.id, second.id) == ("p0.1", "p0.2")
    assert first.problem
    assert second.report
    assert bench.asked == ["probe"]


def test_resumed_experiments_repeat_nothing(tmp_path: Path, spec: Any, executor: Any) -> None:
    """Only missing parts of a truncated journal are rolled out again."""
    bench = ExperimentBench(
        tmp_path,
        spec,
        executor,
        {"probe": GOOD + GOOD.replace("return 0", "return 1")},
        recipe_options={"probe_steps": 24},
    )
    first = bench.prepare()
    steps = bench.ledger.steps["probe"]
    assert steps > 0
    assert [one.id for one in first] == ["p0.1", "p0.2"]
    assert all(n > 0 for n in bench.seen.values())
    assert bench.prepare() == first
    assert bench.asked == []
    assert bench.ledger.steps["probe"] == steps
    lines = (tmp_path / "journal.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["kind"] != "experiment"]
    (tmp_path / "journal.jsonl").write_text(
        "".join(json.dumps({**json.loads(line), "n": n}) + "\n" for n, line in enumerate(kept))
    )
    assert bench.prepare() == first  # without trajectories, episodes are played again and counted
    assert bench.asked == []
    assert bench.ledger.steps["probe"] == 2 * steps


def test_experiment_stays_within_its_steps(tmp_path: Path, spec: Any, executor: Any) -> None:
    """Episodes of a version that crashed count, too."""
    options = {"probe_steps": 12}
    bench = ExperimentBench(tmp_path / "a", spec, executor, {"probe": GOOD}, recipe_options=options)
    [one] = bench.prepare()
    assert one.steps == 12
    assert one.episodes == 2
    assert one.earned == (1.0, 1.0)  # what CartPole pays for a step
    assert one.report == "Episode 1:\n9 steps to the left\n\nEpisode 2:\n3 steps to the left"
    late = probe_answer(
        "self.t = getattr(self, 't', 0) + 1\n        return [0] * (self.t < 5) or None", idea="Late."
    )
    bench = ExperimentBench(
        tmp_path / "b", spec, executor, {"probe": late, "p0.1.repair1": GOOD}, recipe_options=options
    )
    [one] = bench.prepare()
    assert one.repairs == 1
    assert one.steps <= 12


@pytest.mark.slow
def test_number_of_episodes_depends_on_their_length(tmp_path: Path, spec: Any, executor: Any) -> None:
    """Each of at most ten episodes may try something else; an experiment may declare its own number."""
    counts = (
        GOOD.replace(
            "    def act(", "    def __init__(self, episode):\n        self.episode = episode\n\n    def act("
        )
        .replace("return 0", "return self.episode % 2")
        .replace("to the left", "of {self.episode}")
    )
    bench = ExperimentBench(
        tmp_path / "a", spec, executor, {"probe": counts}, recipe_options={"probe_steps": 400}
    )
    [one] = bench.prepare()
    assert (one.episodes, one.problem) == (10, "")
    assert one.steps < 400
    assert all(f"Episode {n}:\n" in one.report and f" steps of {n}" in one.report for n in range(1, 11))
    options = {"probe_steps": 60}
    [one] = ExperimentBench(tmp_path / "b", spec, executor, {"probe": GOOD}, recipe_options=options).prepare()
    assert one.steps == 60
    assert one.episodes < 10
    shared = GOOD.replace("import numpy", "EPISODES = 10\nimport numpy", 1)
    [one] = ExperimentBench(
        tmp_path / "h", spec, executor, {"probe": shared}, recipe_options=options
    ).prepare()
    assert (one.episodes, one.steps) == (10, 60)  # none falls within its six steps
    few = GOOD.replace("import numpy", "EPISODES = 2\nimport numpy", 1)
    [one] = ExperimentBench(tmp_path / "g", spec, executor, {"probe": few}, recipe_options=options).prepare()
    assert one.episodes == 2
    assert all(end < 30 for end in one.ends)
    wordy = probe_answer(report="return str(trajectory['observations'][0]) + 'x ' * 600")
    [one] = ExperimentBench(
        tmp_path / "d", spec, executor, {"probe": wordy}, recipe_options={"probe_steps": 400}
    ).prepare()
    assert (one.problem, one.repairs) == ("", 0)
    assert one.report.count("x …") == one.episodes
    assert len(one.report) <= REPORT
    short = ExperimentBench(
        tmp_path / "e",
        spec,
        executor,
        {"probe": counts},
        recipe_options={"probe_steps": 40},
        horizon=5,
    )
    [one] = short.prepare()
    assert (one.episodes, one.steps) == (8, 40)  # none terminates, and each tries something else


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("NONE: the description says all of it.", "none was wanted: the description says all of it"),
        ("Nothing comes to mind.", "the answer had no class Probe in it"),
        (WEAK, "the answer had no class Probe in it"),
    ],
)
def test_declining_experiments_is_recorded(
    tmp_path: Path, spec: Any, executor: Any, answer: str, problem: str
) -> None:
    """The journal has the reason, and no step is taken."""
    bench = ExperimentBench(tmp_path, spec, executor, {"probe": answer})
    [one] = bench.prepare()
    assert (one.id, one.source, one.problem) == ("p0.0", "", problem)
    assert bench.ledger.steps["probe"] == 0


def test_failed_call_for_experiments_is_ignored(tmp_path: Path, spec: Any, executor: Any) -> None:
    assert ExperimentBench(tmp_path, spec, executor, {"probe": ProviderError("no.")}).prepare() == []


def test_environment_fault_drops_only_the_experiment(tmp_path: Path, spec: Any) -> None:
    """It must neither end the run nor recur on every resume."""

    def fails(*_: Any) -> Any:
        raise EnvironmentFaultError("the environment raised ZeroDivisionError")

    bench = ExperimentBench(tmp_path, spec, FakeExecutor(fails), {"probe": GOOD})
    [one] = bench.prepare()
    assert one.problem == "it made the environment fail: the environment raised ZeroDivisionError"
    assert bench.asked == ["probe"]
    assert bench.prepare() == [one]


def test_exhausted_budget_drops_unfinished_experiments(tmp_path: Path, spec: Any, executor: Any) -> None:
    """Their steps are counted."""
    bench = ExperimentBench(
        tmp_path,
        spec,
        executor,
        {"probe": GOOD},
        budget=Budget(steps=5),
        recipe_options={"probe": True},
    )
    assert bench.prepare() == []
    assert bench.ledger.steps["probe"] == 5
