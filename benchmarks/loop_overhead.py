"""What the loop costs besides the model and the rollouts.

`python -m benchmarks.loop_overhead [--json]` runs the real loop with the real openai client against a local
server that answers after a set latency, and reports

- ``wall_ratio``: wall time of a round over max(time the model took, time the rollouts took); 1.0 would be
  perfect overlap;
- ``overhead_ms``: our own CPU time per candidate (prompt, parse, gate hand-over, journal) in the main
  process, from a run whose candidates are all rejected by the gate, so that nothing is rolled out;
- ``overhead_ms_late``: the same for the last quarter of the candidates, to show that it does not grow.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring.answering import AnsweringServer
from promptpo.api import optimize
from promptpo.run.journal import Event
from promptpo.run.observer import Observer

POLICY = """```python
class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] + {shift} > 0 else 0
```"""

REJECTED = """```python
import os


class Policy:
    def act(self, obs):
        return {shift}
```"""


def _answers(template: str) -> Callable[[int, str], str]:
    return lambda n, _: template.replace("{shift}", f"{n / 1e6:.6f}")


class _Times(Observer):
    """Wall and CPU time at each event of the journal."""

    def __init__(self) -> None:
        self.events: list[tuple[float, float, Event]] = []

    def event(self, event: Event) -> None:
        self.events.append((time.monotonic(), time.process_time(), event))


def _run(url: str, folder: Path, *, rounds: int, candidates: int, episodes: int) -> _Times:
    times = _Times()
    optimize(
        "CartPole-v1",
        model="openai:local",
        base_url=url,
        out=folder,
        rounds=rounds,
        candidates=candidates,
        episodes=episodes,
        validation_episodes=1,
        test_episodes=1,
        stop_at=1e9,
        max_steps=None,
        repairs=0,
        recipe_options={"feedback_class": False, "racing": 0, "validate": 1},
        observer=times,
    )
    return times


def overlap(latency: float, candidates: int, episodes: int, rounds: int) -> dict[str, float]:
    """Wall time of a round against max(model, rollouts), median over rounds after the first."""
    with tempfile.TemporaryDirectory() as folder, AnsweringServer(_answers(POLICY), latency) as server:
        times = _run(
            server.url, Path(folder) / "run", rounds=rounds, candidates=candidates, episodes=episodes
        )
    ratios = []
    for round_ in range(2, rounds + 1):
        asked = [t for t, _, e in times.events if e.kind == "prompt"]
        completions = [
            (t, e) for t, _, e in times.events if e.kind == "completion" and e.key.startswith(f"r{round_}.")
        ]
        rollouts = [
            (t, e) for t, _, e in times.events if e.kind == "evaluation" and e.key.endswith(f".r{round_}")
        ]
        last_answer = max(t for t, _ in completions)
        begin = max(t for t in asked if t < min(t for t, _ in completions))
        rollout_time = sum(e.data["evaluation"]["seconds"] for _, e in rollouts) / 2
        wall = max(t for t, _ in rollouts) - begin
        ratios.append(wall / max(last_answer - begin, rollout_time))
    return {"latency_s": latency, "candidates": candidates, "wall_ratio": round(statistics.median(ratios), 3)}


def overhead(rounds: int, candidates: int) -> dict[str, float]:
    """Our CPU milliseconds per candidate, and for the last quarter of them."""
    with tempfile.TemporaryDirectory() as folder, AnsweringServer(_answers(REJECTED)) as server:
        times = _run(server.url, Path(folder) / "run", rounds=rounds, candidates=candidates, episodes=1)
    marks = [cpu for _, cpu, event in times.events if event.kind == "attempt"]
    gaps = [after - before for before, after in itertools.pairwise(marks)]
    late = gaps[-len(gaps) // 4 :]
    return {
        "candidates": float(len(marks)),
        "overhead_ms": round(1000 * statistics.fmean(gaps), 2),
        "overhead_ms_late": round(1000 * statistics.fmean(late), 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--candidates", type=int, default=200, help="rejected candidates for the overhead")
    args = parser.parse_args()
    rows = [overlap(latency, 4, 40, 4) for latency in (0.3, 1.0)]
    own = overhead(args.candidates // 4, 4)
    if args.json:
        print(json.dumps({"overlap": rows, "overhead": own}))
        return
    for row in rows:
        print(
            f"latency {row['latency_s']} s, {row['candidates']} candidates: wall / max(model, rollouts) = {row['wall_ratio']}"
        )
    print(
        f"own CPU per candidate: {own['overhead_ms']} ms; last quarter of {own['candidates']:.0f}: {own['overhead_ms_late']} ms"
    )


if __name__ == "__main__":
    main()
