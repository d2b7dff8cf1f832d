"""One run of one version, and the scores of each round's best policy on fresh episodes."""

from __future__ import annotations

import hashlib
import json
import statistics
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo.core.journal import JOURNAL
from promptpo.errors import PromptPOError
from promptpo.output.evaluating import evaluate
from promptpo_benchmarks.worth.cases import RUN_STEPS, WorthCase

FRESH, EPISODES = 900_000, 20
"""First seed and number of the episodes on which all are scored; no run uses these seeds."""

RUN_LIMIT_SECONDS = 600.0
"""Time limit of a run, in seconds; one that exceeds it has no row."""

Judged = dict[tuple[str, str], float]
"""Score by task and digest of a source."""


def measure(
    case: WorthCase, command: Sequence[str], switches: Sequence[str], judged: Judged
) -> dict[str, Any]:
    """Run a case with a version of the code and score the best policy after each round.

    Args:
        case: The case to run.
        command: The command that calls that version's `promptpo`.
        switches: Further words of its command line.
        judged: Scores of programs so far; those of this run are added.

    Raises:
        subprocess.SubprocessError: The run took too long, or ended with an error.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        model = f"replay:{case.recording}" if case.recording else "search"
        limits = f"--max-steps {RUN_STEPS} --test-episodes 1 --jobs 1 --no-film --quiet --json"
        words = [*command, "optimize", case.task.env, *case.options, *switches, *limits.split()]
        words += ["--model", model, "--out", str(run), "--env-kwargs", json.dumps(dict(case.task.kwargs))]
        subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=RUN_LIMIT_SECONDS)
        result = json.loads((run / "result.json").read_text(encoding="utf-8"))
        bests = [*rounds(run), str((result.get("best") or {}).get("candidate", ""))]
        digests = [_score_policy(case, run / "policies" / f"{best}.py", judged) for best in bests]
    task = case.task.label
    return {
        "kind": case.kind, "task": task, "success": case.success, "bests": bests, "digests": digests,
        "judged": {digest: judged[task, digest] for digest in digests if digest},
        "steps": result["searched_steps"], "calls": result["llm"]["calls"], "stopped": result["stop_reason"][:60],
    }  # fmt: skip


def rounds(run: Path) -> list[str]:
    """Return the best candidate after each finished round."""
    lines = (run / JOURNAL).read_text(encoding="utf-8").splitlines()
    events: list[Mapping[str, Any]] = [json.loads(line) for line in lines]
    return [str(event["data"]["best"] or "") for event in events if event["kind"] == "round"]


def _score_policy(case: WorthCase, policy: Path, judged: Judged) -> str:
    """Return the digest of a policy, whose score is then in `judged`; empty if it plays no episode."""
    if not policy.exists():
        return ""
    key = (case.task.label, hashlib.sha256(policy.read_bytes()).hexdigest()[:12])
    if key not in judged:
        try:
            evaluation = evaluate(policy, case.task.as_task(), episodes=EPISODES, seed=FRESH).evaluation
        except PromptPOError:
            return ""
        if not evaluation.episodes:
            return ""
        each = [
            float(bool(episode.success)) if case.success else episode.return_
            for episode in evaluation.episodes
        ]
        judged[key] = round(statistics.fmean(each), 6)
    return key[1]
