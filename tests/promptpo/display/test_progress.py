"""The live part of the display: what it shows at each width, fed by a real run's events."""

import sys
import threading
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import promptpo
from promptpo.core.config import Config
from promptpo.core.journal import JOURNAL, Event, read_events
from promptpo.display.progress import RunProgress
from promptpo.display.terminal import PlainDisplay, render_live_lines
from promptpo.envs.task import Task
from promptpo.llm.scripted import ScriptedLLM
from promptpo.run.config_file import load_config
from promptpo.run.state import RunState
from tests.promptpo.policies import GOOD, SYNTAX_ERROR, WEAK


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Events of a run of two rounds of two candidates."""
    answers = {"r1.c1": WEAK, "r1.c2": SYNTAX_ERROR, "r2.c2": GOOD}
    run = promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(lambda r: answers.get(r.key, SYNTAX_ERROR)),
        out=tmp_path_factory.mktemp("dashboard") / "run",
        rounds=2,
        candidates=2,
        episodes=2,
        validation_episodes=2,
        test_episodes=2,
        repairs=0,
        stop_at=501.0,
        max_usd=2.0,
    )
    return load_config(run.directory / "config.toml"), read_events(run.directory / JOURNAL)


def tell(progress: RunProgress, event: Event) -> None:
    """As a run does: the state comes first."""
    progress.state.add(event)
    progress.add(event)


def progress_after(events: Any, kind: Any, key: Any) -> Any:
    """The state when this event has been seen."""
    config, log = events
    progress = RunProgress(RunState(config))
    for event in log:
        tell(progress, event)
        if (event.kind, event.key) == (kind, key):
            return progress
    raise AssertionError(f"no {kind} {key}")


def drawn(progress: Any, *, width: Any, plain: Any) -> Any:
    """The lines as the terminal gets them."""
    console = Console(
        file=TextIOWrapper(BytesIO(), "ascii" if plain else "utf-8", write_through=True), width=width
    )
    console.print(render_live_lines(progress, console))
    written = console.file.buffer.getvalue().decode()
    return [line.rstrip() for line in written.splitlines()]


def test_a_run_that_goes_on_counts_what_its_limit_does(events: Any) -> None:
    """Steps on test seeds, which a run that ended before has taken, are not told as the search's."""
    config, log = events
    state = RunState.of(config, log)
    ledger = state.ledger
    assert ledger.steps["test"] > 0
    told = RunProgress(state).spending
    assert told.startswith(f"{ledger.searched_steps:,} of 500,000 steps")


def test_samples_are_followed(events: Any) -> None:
    """Asked, answered, done: each sample shows what it is at, and a new round begins anew."""
    asked = next(event.key for event in events[1] if event.kind == "prompt")
    assert progress_after(events, "prompt", asked).open_samples == {"r1c1": False, "r1c2": False}
    assert progress_after(events, "completion", "r1.c1").open_samples["r1c1"]
    assert "r1c2" not in progress_after(events, "attempt", "r1c2").open_samples
    second = progress_after(events, "round", "r1")
    assert (second.round, second.open_samples["r2c1"]) == (2, False)


def test_the_best_is_followed(events: Any) -> None:
    """It names the candidate, its return with the standard error, and of how many episodes that is."""
    progress = progress_after(events, "round", "r2")
    assert progress.standing == "r2c2: return 500.0 ± 3.8 (3 episodes)"
    assert len(progress.state.best_so_far) == 2
    assert "nothing has run yet" not in progress_after(events, "attempt", "r1c1").standing
    assert progress_after(events, "session", "0").standing == "nothing has run yet"


def composed(*entries: Any, start: float = 1000.0, candidates: int = 4) -> Any:
    """What a run is doing after these (seconds, kind, key, data)."""
    config = Config(Task("CartPole-v1"), candidates=candidates)
    progress = RunProgress(RunState(config))
    for n, (at, kind, key, data) in enumerate(entries):
        tell(progress, Event(n, start + at, kind, key, data))
    return progress


PROMPT = {"system": "s", "messages": []}
ANSWER = {"purpose": "policy", "prompt": "p", "text": "", "model": "m", "finish": "stop", "cost_usd": None,
          "usage": {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}, "seconds": 1.0}  # fmt: skip


def test_waiting_for_answers_says_how_many_and_how_long() -> None:
    """A slow model is seen to be asked: how many of the answers are here, and for how long it was asked."""
    progress = composed(
        (0, "prompt", "p", PROMPT),
        (30, "completion", "r1.c1", ANSWER),
        (38, "completion", "r1.c4", ANSWER),
    )
    progress._waiting_since -= 38
    assert progress.doing == "waiting for answers, 2 of 4 received, 38 s"
    progress.state.ledger.arriving.update({"r1.c3": 1200, "r1.c4": 34})
    assert progress.doing == "waiting for answers, 2 of 4 received, 38 s, 1,234 characters so far"
    linked = composed((0, "prompt", "p", PROMPT), (9, "completion", "r1.c2", ANSWER))
    assert linked.open_samples["r1c2"]


def test_an_answer_that_did_not_come_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each reason, where its round ends; what is left takes no time where no round follows."""
    progress = composed(candidates=3)
    display = PlainDisplay()
    display._progress = progress
    lines: list[str] = []
    monkeypatch.setattr(display, "line", lines.append)
    lost = {"0": "it failed with status 500.", "2": "it failed with status 500."}
    over = Event(0, 1.0, "round", "r1", {"best": None, "stalled": 1, "reflection": "", "unanswered": lost})
    progress.state.add(over)
    display.on_event(over)
    assert lines[0] == "  no answer: it failed with status 500."
    assert lines[1].startswith("round 1: nothing has run yet")
    assert len(lines) == 2


def test_the_reward_for_a_goal_is_seen_to_be_written() -> None:
    """Until the model is told of the task, which comes after; then the clock of answers begins anew."""
    config = Config(Task("CartPole-v1"), candidates=2, features={"goal": "to the left"})
    progress = RunProgress(RunState(config))
    tell(progress, Event(0, 0.0, "prompt", "p", PROMPT))
    progress.state.ledger.arriving.update({"goal.reward": 120})
    assert progress.doing == "writing the reward, 120 characters so far"
    progress.state.ledger.arriving.clear()
    tell(progress, Event(1, 60.0, "spec", "spec", {"text": "it"}))
    tell(progress, Event(2, 70.0, "prompt", "q", PROMPT))
    assert progress.doing == "waiting for answers, 0 of 2 received, 0 s"


def test_tuning_says_how_far_it_is() -> None:
    """By its steps."""
    batch = {"spent": {"tune": 1000}, "best_return": 1204.0, "rollouts": "", "candidates": ["r2c1"]}
    told = composed((20, "tuning", "r1.t1", batch), (20, "tuning", "r1.t2", batch))
    assert told.doing == "tuning r2c1: 2,000 steps, best 1204"
    old = {"spent": {"tune": 1000}, "best_return": None, "rollouts": ""}
    assert composed((10, "tuning", "r1.t1", old)).doing == "tuning numbers: 1,000 steps"
    assert composed((20, "tuning", "last0.t1", batch)).doing == "tuning r2c1: 1,000 steps, best 1204"


def test_no_tuning_is_not_called_tuning() -> None:
    """Where no steps are left for it, the next thing is named."""
    assert "tuning numbers" not in composed((0, "decision", "r1.tuning_steps", 0)).doing


@pytest.mark.parametrize("name", ["search", "model"])
def test_at_every_moment_it_says_something_true(name: str) -> None:
    """Through a whole recorded run: never "nothing has run yet" beside results, and it fits its line."""
    folder = Path(__file__).parents[1] / "core" / "recorded" / name
    config, log = load_config(folder / "config.toml"), read_events(folder / JOURNAL)
    progress, said = RunProgress(RunState(config)), []
    for event in log:
        tell(progress, event)
        said.append(progress.doing)
        assert (progress.standing == "nothing has run yet") == (not progress.state.candidates)
        assert "\n" not in said[-1]
    words = " | ".join(said)
    for part in (
        "waiting for answers",
        "rolling out",
        "tuning numbers:",
        "validating",
        "testing r1c1",
        "writing the result",
    ):
        assert part in words


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("width", [30, 40, 80, 160])
def test_it_fits_every_width(events: Any, width: Any, plain: bool) -> None:
    """Three lines, none longer than the terminal; ASCII stays ASCII."""
    lines = drawn(progress_after(events, "round", "r2"), width=width, plain=plain)
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 3
    if plain:
        assert all(line.isascii() for line in lines)


def test_only_limits_that_exist_are_told(events: Any) -> None:
    """Steps and money here, with what there is of them; no tokens, no time."""
    progress = progress_after(events, "round", "r1")
    assert "of 500,000 steps" in progress.spending
    assert "$0.0000 of 2.0" in progress.spending
    assert "tokens of" not in progress.spending
    assert progress.lines()[0].startswith("round 2 of 2 · preparing round 2")


def test_another_thread_draws_while_events_come(events: Any) -> None:
    """A view that another thread draws never meets an event that is half taken into account."""
    config, log = events
    failed: list[Exception] = []
    for _ in range(5):
        progress, over = RunProgress(RunState(config)), threading.Event()

        def draw(progress: RunProgress = progress, over: threading.Event = over) -> None:
            while not over.is_set():
                try:
                    progress.lines()
                except Exception as error:  # noqa: BLE001
                    failed.append(error)

        switching = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        thread = threading.Thread(target=draw)
        thread.start()
        try:
            for event in log:
                tell(progress, event)
        finally:
            over.set()
            thread.join()
            sys.setswitchinterval(switching)
    assert not failed
