"""promptpo from Python: options, history, Ctrl-C, event loops and progress."""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.errors import MissingExtraError, UsageError
from promptpo.llm.base import Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.run_result import HISTORY
from tests.promptpo.optimizing import QUICK, Model, optimize
from tests.promptpo.policies import CRASH, FEEDBACK, GOOD, TUNABLE, WEAK, variant


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"roundz": 1}, "did you mean rounds"),
        ({"reveel": "bare"}, "did you mean reveal"),
        ({"max_step": 1}, "did you mean max_steps"),
        ({"reveal": "bares"}, "or 'bare', not 'bares'"),
        ({"rounds": "many"}, "rounds must be a valid integer"),
        ({"max_steps": -5}, "steps must be greater than 0"),
        ({"recipe_options": {"probe_steps": 0}}, "probe_steps must be greater than or equal to 1"),
        ({"model": 3}, "model must be a valid string"),
        ({"model": ["exec:cat", 3]}, "models"),
        ({"llm": "anthropic"}, "use model="),
        ({"observer": print}, r"takes a promptpo\.Observer"),
        ({"progress": "yes"}, "progress must be true or false"),
        ({"out": 3}, "out must be a path"),
        ({"env_kwargs": [1]}, "env_kwargs must be a mapping"),
        ({"wrappers": "ClipAction"}, "wrappers must be a list"),
        ({"variants": {"gravity": 1}}, "variants must be a list"),
        ({"held_out": 3}, "held_out must be a list"),
        ({"variants": [3]}, "a variant is a mapping"),
    ],
)
def test_wrong_option_gets_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, match: str
) -> None:
    """Parameters and settings alike, before anything starts."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=match):
        promptpo.optimize("CartPole-v1", **options)
    assert not list(tmp_path.iterdir())


def test_wrong_limit_of_a_resumed_run_gets_one_sentence(tmp_path: Path) -> None:
    run = optimize(Model(), tmp_path / "run", rounds=1, candidates=1)
    with pytest.raises(UsageError, match="did you mean rounds"):
        promptpo.resume(run.directory, roundz=3)
    with pytest.raises(UsageError, match="rounds must be a valid integer"):
        promptpo.resume(run.directory, rounds="many")


@pytest.mark.slow
def test_history_has_a_row_for_every_candidate(tmp_path: Path) -> None:
    """Tuned ones and those that did not run have one too."""
    pytest.importorskip("pandas")
    model = Model({"r1.c1": CRASH, "r1.c2": TUNABLE, "r2.c1": GOOD, "r2.c2": TUNABLE})
    run = optimize(model, tmp_path / "run", rounds=2, candidates=2, repairs=0, max_steps=8_000)
    frame = promptpo.load_run(run.directory).history
    assert tuple(frame.columns) == HISTORY
    rows = frame.set_index("candidate")
    assert rows.outcome["r1c1"] != "ok"
    assert rows.tuned["r1c2t"]
    assert rows.parents["r1c2t"] == ("r1c2",)
    assert rows.duplicate_of["r2c2"] == "r1c2"
    assert rows.mean_return[run.data["best"]["candidate"]] == pytest.approx(
        run.data["evidence"]["mean_return"]
    )
    assert rows.episodes[run.data["best"]["candidate"]] == run.data["evidence"]["episodes"]
    assert set(frame.model) == {"scripted"}
    assert 0 < rows.steps["r1c1"] <= rows.steps["r2c2"] <= run.data["steps"]["total"]


def test_history_without_pandas_names_alternatives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = optimize(Model(), tmp_path / "run", rounds=1, candidates=1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install pandas.*promptpo show"):
        _ = run.history


def interrupting_model(keys: Any) -> Any:
    """Return a model that presses Ctrl-C while its second answer is awaited."""

    async def model(request: Request) -> Any:
        keys.append(request.key)
        if request.purpose == "feedback":
            return FEEDBACK
        if request.key == "r1.c1":
            return WEAK
        if request.key == "r2.c1":
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        return variant(WEAK, len(keys))

    return ScriptedLLM(model)


def run_in_plain_python(options: Any) -> Any:
    """Run without an event loop."""
    return promptpo.optimize("CartPole-v1", **options)


def run_in_a_notebook(options: Any) -> Any:
    """Run inside an event loop of the main thread, where Ctrl-C raises KeyboardInterrupt."""

    async def cell() -> Any:
        return promptpo.optimize("CartPole-v1", **options)

    return asyncio.new_event_loop().run_until_complete(cell())


def own_threads() -> set[threading.Thread]:
    """Return all threads except those of executors, whose workers stay warm between tests."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("rollouts")}


@pytest.mark.slow
@pytest.mark.parametrize("run_in", [run_in_plain_python, run_in_a_notebook])
def test_ctrl_c_ends_a_loop_over_seeds_and_closes_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_in: Any
) -> None:
    """The run has a result and can be resumed, no thread is left, and the next seed does not start."""
    monkeypatch.setattr("promptpo.core.work.RECEIVING_SECONDS", 0.1)
    before, keys, started = own_threads(), [], []

    def loop() -> None:
        for seed in range(3):
            started.append(seed)
            more = {"out": tmp_path / f"seed-{seed}", "seed": seed, "candidates": 1, "rounds": 3}
            run_in({"llm": interrupting_model(keys), **more, **QUICK})

    with pytest.raises(KeyboardInterrupt, match="resume"):
        loop()
    assert started == [0]
    run = promptpo.load_run(tmp_path / "seed-0")
    assert run.stop_reason == "interrupted by Ctrl-C"
    assert run.data["best"]["candidate"] == "r1c1"
    assert not {thread for thread in own_threads() if thread not in before}
    more = promptpo.resume(run.directory, llm=ScriptedLLM(Model(default=GOOD)))
    assert more.mean_return > 90


async def answer_slowly(request: Request) -> Any:
    """Answer after a while."""
    await asyncio.sleep(0.05)
    return FEEDBACK if request.purpose == "feedback" else GOOD


@pytest.mark.slow
def test_concurrent_runs_leave_the_event_loop_free(tmp_path: Path) -> None:
    async def main() -> Any:
        ticks, ticking = 0, True

        async def tick() -> None:
            nonlocal ticks
            while ticking:
                await asyncio.sleep(0.01)
                ticks += 1

        other = asyncio.ensure_future(tick())
        options = {**QUICK, "rounds": 1, "candidates": 1}
        runs = await asyncio.gather(*(
            promptpo.optimize_async("CartPole-v1", llm=ScriptedLLM(answer_slowly), out=tmp_path / str(seed), seed=seed, **options)
            for seed in range(2)
        ))  # fmt: skip
        ticking = False
        await other
        return runs, ticks

    runs, ticks = asyncio.run(main())
    assert all(run.mean_return > 90 for run in runs)
    assert ticks > 10


@pytest.mark.slow
def test_cancelled_run_is_closed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its best so far is tested and written, and it can be resumed at once."""
    monkeypatch.setattr("promptpo.core.work.RECEIVING_SECONDS", 0.1)
    second = threading.Event()

    async def model(request: Request) -> Any:
        if request.key == "r2.c1":
            second.set()
            await asyncio.sleep(60)
        return FEEDBACK if request.purpose == "feedback" else GOOD

    async def main() -> None:
        options = {**QUICK, "rounds": 3, "candidates": 1, "out": tmp_path / "run"}
        task = asyncio.ensure_future(
            promptpo.optimize_async("CartPole-v1", llm=ScriptedLLM(model), **options)
        )
        await asyncio.to_thread(second.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert promptpo.load_run(tmp_path / "run").stop_reason == "cancelled"
    resumed = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(Model(default=WEAK)))
    assert resumed.mean_return > 90


@pytest.mark.slow
def test_progress_is_shown_only_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It goes to standard error, as lines outside a terminal; an observer is called as well."""
    kinds = []

    class Counting(promptpo.Observer):
        def on_event(self, event: Any) -> None:
            kinds.append(event.kind)

    optimize(Model(default=GOOD), tmp_path / "quiet", rounds=1, candidates=1)
    assert capsys.readouterr() == ("", "")
    optimize(
        Model(default=GOOD), tmp_path / "run", rounds=1, candidates=1, progress=True, observer=Counting()
    )
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "round 1" in printed.err
    assert "Held-out return" in printed.err
    assert "attempt" in kinds
