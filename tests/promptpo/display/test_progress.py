"""The live part of the display at each width, fed with a real run's events."""

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


def add_event(progress: RunProgress, event: Event) -> None:
    """Add an event as a run does: to the state first."""
    progress.state.add(event)
    progress.add(event)


def progress_after(events: Any, kind: Any, key: Any) -> Any:
    """Return the progress once this event has been seen."""
    config, log = events
    progress = RunProgress(RunState(config))
    for event in log:
        add_event(progress, event)
        if (event.kind, event.key) == (kind, key):
            return progress
    raise AssertionError(f"no {kind} {key}")


def draw_lines(progress: Any, *, width: Any, plain: Any) -> Any:
    """Return the lines as a terminal of this width shows them."""
    console = Console(
        file=TextIOWrapper(BytesIO(), "ascii" if plain else "utf-8", write_through=True), width=width
    )
    console.print(render_live_lines(progress, console))
    written = console.file.buffer.getvalue().decode()
    return [line.rstrip() for line in written.splitlines()]


def test_resumed_run_counts_steps_as_its_limit_does(events: Any) -> None:
    """Test steps of an earlier session do not count against the search's limit."""
    config, log = events
    state = RunState.of(config, log)
    ledger = state.ledger
    assert ledger.steps["test"] > 0
    spending = RunProgress(state).spending
    assert spending.startswith(f"{ledger.searched_steps:,} of 500,000 steps")


def test_samples_are_requested_answered_and_closed(events: Any) -> None:
    """A new round begins with its own samples."""
    prompt_key = next(event.key for event in events[1] if event.kind == "prompt")
    assert progress_after(events, "prompt", prompt_key).open_samples == {"r1c1": False, "r1c2": False}
    assert progress_after(events, "completion", "r1.c1").open_samples["r1c1"]
    assert "r1c2" not in progress_after(events, "attempt", "r1c2").open_samples
    second = progress_after(events, "round", "r1")
    assert (second.round, second.open_samples["r2c1"]) == (2, False)


def test_standing_names_the_best(events: Any) -> None:
    """The candidate, its return with the standard error, and the number of episodes."""
    progress = progress_after(events, "round", "r2")
    assert progress.standing == "r2c2: return 500.0 ± 3.8 (3 episodes)"
    assert len(progress.state.best_so_far) == 2
    assert "nothing has run yet" not in progress_after(events, "attempt", "r1c1").standing
    assert progress_after(events, "session", "0").standing == "nothing has run yet"


def progress_of(*entries: Any, start: float = 1000.0, candidates: int = 4) -> Any:
    """Return the progress after (seconds, kind, key, data) entries."""
    config = Config(Task("CartPole-v1"), candidates=candidates)
    progress = RunProgress(RunState(config))
    for n, (at, kind, key, data) in enumerate(entries):
        add_event(progress, Event(n, start + at, kind, key, data))
    return progress


PROMPT = {"system": "s", "messages": []}
ANSWER = {"purpose": "policy", "prompt": "p", "text": "", "model": "m", "finish": "stop", "cost_usd": None,
          "usage": {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}, "seconds": 1.0}  # fmt: skip


def test_waiting_for_answers_says_how_many_and_how_long() -> None:
    """It counts the answers received, the seconds since the request and the characters so far."""
    progress = progress_of(
        (0, "prompt", "p", PROMPT),
        (30, "completion", "r1.c1", ANSWER),
        (38, "completion", "r1.c4", ANSWER),
    )
    progress._waiting_since -= 38
    assert progress.doing == "waiting for answers, 2 of 4 received, 38 s"
    progress.state.ledger.streamed_chars.update({"r1.c3": 1200, "r1.c4": 34})
    assert progress.doing == "waiting for answers, 2 of 4 received, 38 s, 1,234 characters so far"
    linked = progress_of((0, "prompt", "p", PROMPT), (9, "completion", "r1.c2", ANSWER))
    assert linked.open_samples["r1c2"]


def test_missing_answers_are_reported_once_per_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is at the end of their round; it adds no other line if no round follows."""
    progress = progress_of(candidates=3)
    display = PlainDisplay()
    display._progress = progress
    lines: list[str] = []
    monkeypatch.setattr(display, "line", lines.append)
    unanswered = {"0": "it failed with status 500.", "2": "it failed with status 500."}
    round_event = Event(
        0, 1.0, "round", "r1", {"best": None, "stalled": 1, "reflection": "", "unanswered": unanswered}
    )
    progress.state.add(round_event)
    display.on_event(round_event)
    assert lines[0] == "  no answer: it failed with status 500."
    assert lines[1].startswith("round 1: nothing has run yet")
    assert len(lines) == 2


def test_writing_the_reward_for_a_goal_is_shown() -> None:
    """Until the spec is ready; then waiting is timed anew."""
    config = Config(Task("CartPole-v1"), candidates=2, features={"goal": "to the left"})
    progress = RunProgress(RunState(config))
    add_event(progress, Event(0, 0.0, "prompt", "p", PROMPT))
    progress.state.ledger.streamed_chars.update({"goal.reward": 120})
    assert progress.doing == "writing the reward, 120 characters so far"
    progress.state.ledger.streamed_chars.clear()
    add_event(progress, Event(1, 60.0, "spec", "spec", {"text": "it"}))
    add_event(progress, Event(2, 70.0, "prompt", "q", PROMPT))
    assert progress.doing == "waiting for answers, 0 of 2 received, 0 s"


def test_tuning_shows_its_steps_and_best_return() -> None:
    batch = {"spent": {"tune": 1000}, "best_return": 1204.0, "rollouts": "", "candidates": ["r2c1"]}
    progress = progress_of((20, "tuning", "r1.t1", batch), (20, "tuning", "r1.t2", batch))
    assert progress.doing == "tuning r2c1: 2,000 steps, best 1204"
    old = {"spent": {"tune": 1000}, "best_return": None, "rollouts": ""}
    assert progress_of((10, "tuning", "r1.t1", old)).doing == "tuning numbers: 1,000 steps"
    assert progress_of((20, "tuning", "last0.t1", batch)).doing == "tuning r2c1: 1,000 steps, best 1204"


def test_skipped_tuning_is_not_shown() -> None:
    """If no steps are left for tuning, the next activity is shown."""
    assert "tuning numbers" not in progress_of((0, "decision", "r1.tuning_steps", 0)).doing


@pytest.mark.parametrize("name", ["search", "model"])
def test_progress_is_consistent_through_a_recorded_run(name: str) -> None:
    """It never shows "nothing has run yet" beside results, and each activity fits its line."""
    folder = Path(__file__).parents[1] / "core" / "recorded" / name
    config, log = load_config(folder / "config.toml"), read_events(folder / JOURNAL)
    progress, activities = RunProgress(RunState(config)), []
    for event in log:
        add_event(progress, event)
        activities.append(progress.doing)
        assert (progress.standing == "nothing has run yet") == (not progress.state.candidates)
        assert "\n" not in activities[-1]
    words = " | ".join(activities)
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
def test_lines_fit_every_width(events: Any, width: Any, plain: bool) -> None:
    """Three lines, none longer than the terminal; an ASCII terminal gets ASCII."""
    lines = draw_lines(progress_after(events, "round", "r2"), width=width, plain=plain)
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 3
    if plain:
        assert all(line.isascii() for line in lines)


def test_only_limits_that_are_set_are_shown(events: Any) -> None:
    """Here steps and money, but neither tokens nor time."""
    progress = progress_after(events, "round", "r1")
    assert "of 500,000 steps" in progress.spending
    assert "$0.0000 of 2.0" in progress.spending
    assert "tokens of" not in progress.spending
    assert progress.lines()[0].startswith("round 2 of 2 · preparing round 2")


def test_drawing_from_another_thread_is_safe(events: Any) -> None:
    """It never sees an event that is only partly added."""
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
                add_event(progress, event)
        finally:
            over.set()
            thread.join()
            sys.setswitchinterval(switching)
    assert not failed
