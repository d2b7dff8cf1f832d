"""Runs with a goal in words: writing the reward, checking it against preferences, and the verdict."""

from __future__ import annotations

import asyncio
import html
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.api import build_config
from promptpo.cli.app import run as command
from promptpo.cli.show import overview
from promptpo.core.control import INTERRUPTED, StopReason
from promptpo.core.final_test import Outcome
from promptpo.core.history import History
from promptpo.core.journal import JOURNAL, read_events
from promptpo.display.terminal import PlainDisplay
from promptpo.errors import RewardFaultError, UsageError
from promptpo.features.goals.verdict import FINEST, TYPICAL, WORST, _select_seeds
from promptpo.llm.base import PNG, Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.observer import Observer
from promptpo.output.outcome import outcome
from promptpo.output.report.page import page
from promptpo.output.run_view import read_view
from promptpo.output.sentences import sentence
from promptpo.program import Program
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.checking import with_settings
from promptpo.run.config_file import load_config
from promptpo.run.preflight import Preflight
from promptpo.session import Session
from promptpo.session.goals import count_fulfilled
from tests.promptpo.llm.test_images import png
from tests.promptpo.optimizing import QUICK, Model, optimize
from tests.promptpo.policies import CRASH, GOOD
from tests.promptpo.rewards import CONSTANT, LEFT

GOAL = "keep the cart on the left"
FENCED = f"It pays for being left.\n```python\n{LEFT}```\n"
WRONG = FENCED.replace("2 * left - 1", "1 - 2 * left").replace('"left": left', '"wrong": -left')

TO_THE_LEFT = """```python
class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] + 0.05 * (obs[0] + 1) + 0.1 * obs[1] > 0 else 0
```"""


class JudgeModel(Model):
    """A scripted model that prefers episodes whose name starts with `prefers`, with a fixed verdict."""

    def __init__(self, answers: Any, *, prefers: str = "policy", verdict: str = "yes") -> None:
        super().__init__(answers, default=GOOD)
        self.prefers, self.verdict = prefers, verdict

    def __call__(self, request: Request) -> Any:
        """Answer."""
        if request.purpose != "judge":
            return super().__call__(request)
        self.requests.append(request)
        question = request.messages[0].content
        lines = []
        for number, a, b in re.findall(r"PAIR (\d+): A is episode (.+), B is episode (.+)", question):
            wanted = [name.startswith(self.prefers) for name in (a, b)]
            word = "=" if wanted[0] == wanted[1] else "A" if wanted[0] else "B"
            lines.append(f"PAIR {number}: {word}")
        return "\n".join([*lines, f"VERDICT: {self.verdict}", "BECAUSE: the cart was where it should be."])


@pytest.fixture
def without_films(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the films at the end, each of which takes a process."""

    async def none(*_: Any) -> None:
        """Return no films."""

    monkeypatch.setattr("promptpo.session.goals._film_episodes", none)


SETTINGS: dict[str, Any] = {
    "rounds": 1,
    "candidates": 1,
    "tune": "none",
    "stop_at": None,
    "goal": GOAL,
    "max_episode_steps": 120,
}


@pytest.fixture(scope="module")
def goal_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, JudgeModel]:
    """A run whose first reward is constant, whose second pays for the opposite, and whose third is right."""
    model = JudgeModel(
        {
            "goal.reward": f"```python\n{CONSTANT}```",
            "goal.reward.repair1": WRONG,
            "goal.rewrite": FENCED,
            "goal.policy": TO_THE_LEFT,
        },
        prefers="policy",
    )
    longer = {**SETTINGS, "max_episode_steps": 200}
    return optimize(model, tmp_path_factory.mktemp("goals") / "run", **longer), model


def test_reward_is_repaired_judged_and_rewritten(goal_run: tuple[Any, JudgeModel]) -> None:
    """A constant reward is repaired; one that contradicts the preferences is rewritten once with them."""
    run, model = goal_run
    asked = [key for key in model.asked() if key.startswith("goal")]
    assert asked[:5] == [
        "goal.reward",
        "goal.reward.repair1",
        "goal.policy",
        "goal.pairs.before",
        "goal.rewrite",
    ]
    by_key = {request.key: request.messages[0].content for request in model.requests}
    assert "it is constant" in by_key["goal.reward.repair1"]
    assert "comes closer to the goal than episode" in by_key["goal.rewrite"]
    assert "reward" not in by_key["goal.pairs.before"].lower()
    config = load_config(run.directory / "config.toml")
    assert config.task.reward is not None
    assert "2 * left - 1" in config.task.reward.source
    assert config.task.reward.goal == GOAL
    assert (run.directory / "reward.py").read_text() == Program.from_source(
        config.task.reward.source
    ).postponed.source


def test_policy_requests_state_goal_and_reward(goal_run: tuple[Any, JudgeModel]) -> None:
    policies = [r for r in goal_run[1].requests if r.key.startswith("r1.")]
    assert policies
    for request in policies:
        assert f"# The goal, in the user's words: {GOAL}" in request.system
        assert "class Reward:" in request.system


def test_policy_for_judging_becomes_a_candidate(goal_run: tuple[Any, JudgeModel]) -> None:
    """It counts as written by the model, not as the user's."""
    config = load_config(goal_run[0].directory / "config.toml")
    assert (len(config.start), config.features["written"]) == (1, 1)
    assert read_view(goal_run[0].directory).state.candidate("r0c1") is not None


def test_verdict_is_in_result_show_and_report(goal_run: tuple[Any, JudgeModel]) -> None:
    run = goal_run[0]
    assert run.data["goal"]["text"] == GOAL
    assert run.data["goal"]["asked"] == "yes"
    sentence = f"({GOAL}): yes, because the cart was where it should be."
    share = run.data["goal"]["fulfilled"]
    successes = run.data["test"]["success_rate"]
    assert share == {"yes": round(5 * successes), "of": 5}
    sentence += f" The reward's success() says yes in {share['yes']} of 5 test episodes."
    assert sentence in overview(run.directory)
    assert sentence in html.unescape(page(read_view(run.directory), "no episode"))


def test_strips_are_saved_and_shown(goal_run: tuple[Any, JudgeModel]) -> None:
    """They show the best, median and worst test episode; without them the reason is given."""
    run, goal = goal_run[0], goal_run[0].data["goal"]
    assert bool(goal["pictures"]) is not bool(goal["no_pictures"])
    text = page(read_view(run.directory), "no episode")
    for picture in goal["pictures"]:
        assert (run.directory / picture["file"]).read_bytes().startswith(PNG)
        assert picture["return"] in run.data["test"]["returns"]
        assert f"The {picture['role']} episode: seed {picture['seed']}" in text
    assert {picture["role"] for picture in goal["pictures"]} <= {"best", "median", "worst"}
    assert text.count('alt="The ') == len(goal["pictures"])


@pytest.mark.slow
@pytest.mark.usefixtures("without_films")
def test_interrupted_run_states_what_is_known_of_its_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Success rates are counted; the missing pairwise judgement is mentioned."""
    monkeypatch.setattr("promptpo.core.work.RECEIVING_SECONDS", 0.2)  # no answer comes

    class Slow(ScriptedLLM):
        async def complete(self, request: Request) -> Any:
            if request.key.startswith("goal.winner"):
                session.control.stop(INTERRUPTED)
                await asyncio.sleep(60)
            return await super().complete(request)

    model = Slow(JudgeModel({"goal.reward": FENCED}))
    config = build_config("CartPole-v1", llm=model, **{**QUICK, **SETTINGS})
    session = Session(with_settings(config, {}), tmp_path / "run", model, Observer())
    session.control._until = time.monotonic()
    run = session.run()
    assert run.data["goal"]["asked"] is None
    assert run.data["goal"]["fulfilled"]["of"] == 5
    text = outcome(run.data, run.directory)
    assert "interrupted by Ctrl-C, before" in text
    assert "in pairs" in text
    assert "test episodes" in text


@pytest.mark.parametrize(
    ("successes", "words"),
    [
        (
            (True, True, False),
            "yes in 2 of 4 test episodes. The others: length 9 steps; it terminated. In 1 more",
        ),
        (
            (False, False, False),
            "yes in 0 of 4 test episodes. Episodes: length 9 steps; all terminated",
        ),
        ((None, None, None), "Episodes: length 9 steps; all terminated"),
    ],
)
def test_sentence_describes_failing_episodes(successes: tuple[bool | None, ...], words: str) -> None:
    """A walker may do what was requested and still fall in every episode."""
    episodes = tuple(
        EpisodeRecord(n, 1.0 * n, 9, success, terminated=True) for n, success in enumerate(successes)
    )
    winner = Outcome(History(), None, None, Evaluation("ok", episodes, 27, failed=1), StopReason())
    goal = {"text": GOAL, "asked": "partly", "because": "It falls.", **count_fulfilled(winner)}
    assert words in sentence("goal", goal)
    chosen = _select_seeds(winner)
    assert chosen == {TYPICAL: 1, WORST: 0, FINEST: 2}


def test_episodes_of_reward_checks_are_counted_as_probes(goal_run: tuple[Any, JudgeModel]) -> None:
    assert goal_run[0].data["steps"]["probe"] > 0
    events = read_events(goal_run[0].directory / JOURNAL)
    assert (
        sum(e.data["spent"]["probe"] for e in events if e.kind == "reward")
        == goal_run[0].data["steps"]["probe"]
    )


@pytest.mark.usefixtures("without_films")
def test_resumed_run_keeps_its_reward(goal_run: tuple[Any, JudgeModel], tmp_path: Path) -> None:
    """A new verdict is requested only if the best policy changes."""
    copy = tmp_path / "copy"
    shutil.copytree(goal_run[0].directory, copy)
    model = JudgeModel({}, prefers="best")
    again = promptpo.resume(copy, llm=ScriptedLLM(model), rounds=2, trust=True)
    assert not [k for k in model.asked() if k.startswith("goal") and not k.startswith("goal.winner")]
    assert again.data["reward"] == goal_run[0].data["reward"]
    assert again.data["goal"]["asked"] == "yes"


def test_verdict_without_a_policy_is_unknown(tmp_path: Path) -> None:
    judge = JudgeModel({"goal.reward": FENCED, "goal.policy": CRASH})
    judge.default = CRASH
    run = optimize(judge, tmp_path / "run", repairs=0, **SETTINGS)
    assert run.data["best"] is None
    sentence = f"({GOAL}): unknown, because no policy ran."
    assert sentence in overview(run.directory)
    assert sentence in outcome(run.data, run.directory)


@pytest.mark.slow
@pytest.mark.usefixtures("without_films")
def test_kill_before_the_first_round_wastes_no_answer(tmp_path: Path) -> None:
    """The resumed run replays the answers."""

    class Killed(BaseException):
        """Ends the run like a kill."""

    first = JudgeModel({"goal.reward": FENCED, "goal.policy": Killed()})
    with pytest.raises(Killed):
        optimize(first, tmp_path / "run", **SETTINGS)
    second = JudgeModel({}, prefers="best")
    run = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(second))
    assert "goal.reward" not in second.asked()
    assert run.data["reward"]["goal"] == GOAL


@pytest.mark.slow
@pytest.mark.usefixtures("without_films")
def test_agreeing_reward_is_kept(tmp_path: Path) -> None:
    """Goal and limits are announced before the first call, once."""
    model = JudgeModel({"goal.reward": FENCED}, prefers="nobody", verdict="no")

    class Listener(Observer):
        """Records messages with the number of calls so far."""

        def __init__(self) -> None:
            self.lines: list[tuple[str, int]] = []

        def warn(self, message: str) -> None:
            """Record a line."""
            self.lines.append((message, len(model.requests)))

        def on_preflight(self, preflight: Preflight) -> None:
            """Record the limits."""
            self.lines.append((preflight.lines()[0], len(model.requests)))

    listener = Listener()
    run = optimize(model, tmp_path / "run", observer=listener, **SETTINGS)
    assert "goal.rewrite" not in model.asked()
    assert run.data["goal"]["asked"] == "no"
    assert any(GOAL in line and calls == 0 for line, calls in listener.lines)
    assert [calls for line, calls in listener.lines if line.startswith("Episodes:")] == [0]


def test_goal_requires_a_language_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is created; a goal and a reward exclude each other."""
    out = ["--out", str(tmp_path / "run")]
    assert command(["optimize", "CartPole-v1", "--model", "search", "--goal", GOAL, *out]) == 2
    assert "--goal needs a language model" in capsys.readouterr().err
    assert not (tmp_path / "run" / "journal.jsonl").exists()
    (tmp_path / "left.py").write_text(LEFT)
    with pytest.raises(UsageError, match="only one of them"):
        optimize(Model(), tmp_path / "run", reward=tmp_path / "left.py", **SETTINGS)


def test_failing_reward_ends_the_run_after_its_repairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each repair is reported outside a terminal, too."""
    model = JudgeModel(
        {
            "goal.reward": "I cannot.",
            "goal.reward.repair1": "```python\nclass Reward:\n    def step(self):\n        pass\n```",
        }
    )
    with pytest.raises(RewardFaultError, match="Rephrase the goal"):
        optimize(model, tmp_path / "run", repairs=1, observer=PlainDisplay(), **SETTINGS)
    assert model.asked() == ["goal.reward", "goal.reward.repair1"]
    again = model.requests[-1].messages[0].content
    assert "def step(self, obs, action, next_obs, env_reward, info):" in again, (
        "no code shows what is asked for"
    )
    assert "```python\n\n```" not in again
    errors = capsys.readouterr().err
    assert "writes the reward for the goal" in errors
    assert all(f"{key}: answered" in errors for key in model.asked())


@pytest.mark.slow
@pytest.mark.usefixtures("without_films")
def test_trivial_success_criterion_is_rewritten(tmp_path: Path) -> None:
    """It is rewritten even if all preferences agree with the reward."""
    always = FENCED.replace("self.steps > 100", "self.steps > 0")
    model = JudgeModel({"goal.reward": always, "goal.rewrite": FENCED}, prefers="nobody")
    run = optimize(model, tmp_path / "run", **SETTINGS)
    by_key = {request.key: request.messages[0].content for request in model.requests}
    assert (
        "was true: random 2 of 2, zero 1 of 1, policy 2 of 2. So it distinguishes nothing"
        in by_key["goal.rewrite"]
    )
    assert run.data["goal"]["succeeded_at_start"] == {"random": [0, 2], "zero": [0, 1], "policy": [2, 2]}
    assert "before the search: random 0 of 2" in overview(run.directory)
    assert "self.steps > 100" in (run.directory / "reward.py").read_text()


def test_verdict_request_covers_all_test_episodes(goal_run: tuple[Any, JudgeModel]) -> None:
    """It states endings, returns by component and references, and shows a typical and the worst episode."""
    run, model = goal_run
    question = next(r for r in model.requests if r.key.startswith("goal.winner")).messages[0].content
    assert "# The best policy in all 5 held-out test episodes" in question
    assert "its part left|" in question
    assert "- zero: returns " in question
    assert "# Episode best (typical)" in question
    returns = run.data["test"]["returns"]
    assert ("# Episode best (worst)" in question) is (len(set(returns)) > 1)


def test_policy_for_judging_gets_feedback(goal_run: tuple[Any, JudgeModel]) -> None:
    """The feedback class describes it like later candidates."""
    events = read_events(goal_run[0].directory / JOURNAL)
    attempts = {event.key: event.data for event in events if event.kind == "attempt"}
    assert attempts["r0c1"]["diagnosis"]["by"] == "feedback"


@pytest.mark.slow
def test_vision_model_judges_film_strips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each compared episode has one strip; other requests have none."""
    for part in ("output.film.strip", "session.goals"):
        monkeypatch.setattr(
            f"promptpo.{part}.film_strip", lambda _task, e: (png(e.steps % 250), (0, e.steps))
        )
    model = JudgeModel({"goal.reward": FENCED, "goal.policy": TO_THE_LEFT})
    llm = ScriptedLLM(model, sees=True)
    promptpo.optimize("CartPole-v1", llm=llm, out=tmp_path / "run", **{**QUICK, **SETTINGS})
    shown = {request.key.split(".w")[0]: request.images for request in model.requests if request.images}
    assert [image.caption.split(",")[0] for image in shown["goal.pairs.before"]] == [
        f"Episode {name}" for name in ("random 1", "random 2", "zero 1", "policy 1", "policy 2")
    ]
    captions = [
        image.caption for r in model.requests if r.key.startswith("goal.winner") for image in r.images
    ]
    assert captions
    assert all(caption.startswith("Episode best") for caption in captions)
