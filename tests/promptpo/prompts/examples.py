"""A history of two rounds, with the context of its prompts."""

from typing import Any

from promptpo.core.candidate import Attempt, Candidate, Diagnosis, EpisodeSummary
from promptpo.core.feature import Plan, RunStatus
from promptpo.core.history import History
from promptpo.prompts import feedback
from promptpo.prompts.context import PromptContext
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation


def attempt(
    id_: Any, *returns: Any, outcome: str = "ok", error: str = "", source: str = "", **more: Any
) -> Any:
    """Return an attempt with these returns and a diagnosis of its worst and best episode."""
    episodes = tuple(EpisodeRecord(seed, value, 100, terminated=True) for seed, value in enumerate(returns))
    evaluation = Evaluation(outcome, episodes, 100 * len(returns), error=error, policy_seconds=0.02)
    source = (
        source
        or f'"""The idea of {id_}."""\n\n\nclass Policy:\n    def act(self, obs):\n        return {id_[-1]} + obs\n'
    )
    summaries = (
        tuple(
            EpisodeSummary(role, by, value, 100, "terminated", f"{id_} leans {value}")
            for role, by, value in (("worst", 0, min(returns)), ("best", 1, max(returns)))
        )
        if len(returns) > 1
        else ()
    )
    diagnosis = more.pop(
        "diagnosis",
        Diagnosis(summaries, "Steps 80 to 99, the last ones:\nstep|lean|reward\n80|0.2|1", "feedback"),
    )
    round_ = int(id_[1 : id_.index("c")])
    candidate = Candidate(id_, source, round_, digest=id_, **more.pop("candidate", {}))
    return Attempt(candidate, evaluation, feedback.aggregate(evaluation), diagnosis=diagnosis, **more)


TUNABLE = '''"""Push where it leans."""
PARAMS = {"gain": (1.2, 0.0, 3.7), "lead": (0.5, 0.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.gain = params["gain"]

    def act(self, obs):
        return int(self.gain * obs[0] > 0)
'''

WRITTEN = attempt("r2c2", 20.0, 30.0, 40.0, source=TUNABLE)
BEST = attempt(
    "r2c2t",
    90.0,
    110.0,
    20.0,
    source=TUNABLE.replace("1.2, 0.0", "3.7, 0.0"),
    candidate={"parents": ("r2c2",), "tuned": {"gain": (1.2, 3.7)}},
    notes=("gain 1.2 -> 3.7, at its upper bound", "the first two episodes were cut after 50 steps"),
)
PARTNER = attempt("r1c2", 60.0, 50.0, 55.0)
ALIKE = attempt("r2c1", 60.0, 50.0, 55.0)
CRASHED = attempt("r2c3", outcome="crashed", error="line 3: IndexError: list index out of range.")
OLD = attempt("r1c1", 5.0, 6.0, 7.0)


def context(*attempts: Any, **more: Any) -> Any:
    """Return the context of prompts after two rounds."""
    history = History(
        list(attempts or (OLD, PARTNER, ALIKE, WRITTEN, BEST, CRASHED)),
        rounds=2,
        stalled=2,
        leader_id="r2c2t",
    )
    history.validations["r2c2t"] = [Evaluation("ok", (EpisodeRecord(10_000_000, 80.0, 100),), 100)]
    history.reference_evaluations = {
        "random": Evaluation("ok", tuple(EpisodeRecord(n, 9.0 + n, 20) for n in range(3)), 60),
        "zero": Evaluation("ok", (EpisodeRecord(0, 8.0, 9),), 9),
    }
    where = RunStatus(
        3, 5, 3, 3, 100_000, 60_000, 17, tunes=True, tuning_steps=9000, length=100.0, threshold=195.0
    )
    return PromptContext(history, where, legend="leans = the largest lean, rad", **more)


def plan(kind: Any, **more: Any) -> Any:
    """Return a plan for the third round."""
    return Plan(3, 0, kind, **{"parents": (BEST,), **more})
