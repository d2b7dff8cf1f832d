"""Prompts, word for word, and the bound on their length."""

import numpy as np
import pytest

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import Attempt, Candidate
from promptpo.search.planning import Plan
from promptpo.telling import feedback, prompting
from sandbox import Episode, Trajectory

SPEC = '"""A cart on a track."""\n\nclass State:\n    position: float  # m'


def system(**more):
    """A system prompt."""
    values = {
        "spec": SPEC,
        "horizon": 500,
        "success": False,
        "tune": True,
        "clips": True,
        "observation": "a numpy array of shape (4,) (float32)",
        "action": "an int from 0 to 1",
    }
    return prompting.system_prompt(**{**values, **more})


def attempt(id_, *returns, outcome="ok", error="", **more):
    """An attempt with these returns."""
    episodes = tuple(EpisodeRecord(seed, value, 100, terminated=True) for seed, value in enumerate(returns))
    evaluation = Evaluation(outcome, episodes, 100 * len(returns), error=error)
    source = f"class Policy:  # {id_}\n    def act(self, obs):\n        return 0\n"
    return Attempt(Candidate(id_, source, 1, digest=id_), evaluation, feedback.aggregate(evaluation), **more)


BEST = attempt("r1c2", 90.0, 110.0, notes=("gain 1.2 -> 3.7, at its upper bound",))
SECOND = attempt("r1c1", 50.0)
CRASHED = attempt("r1c3", outcome="crashed", error="line 3: IndexError: list index out of range")


def plan(direction, **more):
    """A plan for the second round."""
    values = {"parents": (BEST, SECOND), "shown": (BEST, SECOND), "lines": (CRASHED,), "stalled": 2}
    return Plan(2, 0, direction, **{**values, **more})


LINES = [feedback.one_line(CRASHED)]


def test_system_prompt_is_pinned(snapshot):
    """The contract and the spec, as every call of a run begins."""
    assert system() == snapshot


def test_system_prompt_without_tuning_is_pinned(snapshot):
    """Where nothing tunes numbers, PARAMS are not mentioned."""
    text = system(tune=False, success=True, horizon=None)
    assert "PARAMS" not in text
    assert text == snapshot


@pytest.mark.parametrize("strategy", ["", "feedback control"])
def test_first_prompt_is_pinned(snapshot, strategy):
    """Round 1."""
    assert prompting.policy_prompt(Plan(1, 0, "first", strategy), [], max_tokens=1000) == snapshot


@pytest.mark.parametrize("direction", ["improve", "different", "fresh", "merge"])
def test_later_prompts_are_pinned(snapshot, direction):
    """Each kind of request of a later round."""
    text = prompting.policy_prompt(plan(direction, strategy="planning"), LINES, max_tokens=10_000)
    assert text == snapshot


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("repair", {"what": "crashed", "source": "x = 1", "error": "line 1: bad", "detail": "Traceback"}),
        ("continue", {"what": "was cut off", "shorter": 120}),
        (
            "reflection",
            {"title": "r1c1", "code": "x = 1", "feedback": "Mean return 3.", "earlier": ["r1c2: 4"]},
        ),
        ("feedback_class", {"form": "a list.", "sees_all": True}),
    ],
)
def test_other_prompts_are_pinned(snapshot, template, values):
    """Repair, continuation, reflection and the feedback class."""
    assert prompting.render(template, **values) == snapshot


def test_a_missing_value_is_an_error():
    """A template never leaves a hole in a prompt."""
    with pytest.raises(Exception, match="undefined"):
        prompting.render("reflection", title="r1c1")


@pytest.mark.parametrize("bound", [2000, 600, 350])
def test_the_history_is_shortened_to_fit(bound):
    """The best attempt's code goes last; the request itself always stays."""
    many = tuple(attempt(f"r1c{n}", float(n)) for n in range(9, 0, -1))
    lines = [f"r1c{n}: crashed: {'x' * 200}" for n in range(20)]
    text = prompting.policy_prompt(plan("improve", shown=many, parents=many[:1]), lines, max_tokens=bound)
    assert prompting.tokens(text) <= bound
    assert "class Policy:  # r1c9" in text
    assert "does better than r1c9" in text


def episode(n=30, return_=12.0):
    """A recorded episode."""
    observations = [np.array([t / 10, -1.0]) for t in range(n + 1)]
    trajectory = Trajectory(observations, [t % 2 for t in range(n)], [0.4] * n)
    return Episode(0, return_, n, True, False, None, 0, 0.0, trajectory, None)


def test_built_in_summary_shows_first_and_last_steps():
    """A few evenly spread steps, with the observation after the last one."""
    text = feedback.built_in_summary(episode())
    assert text.splitlines()[0].startswith("step 0: obs [0, -1] action 0 reward 0.4")
    assert "step 29" in text
    assert text.splitlines()[-1] == "after the last step: obs [3, -1]"


def test_typical_episodes_are_the_median_and_the_worst():
    """One vivid failure alone would mislead."""
    episodes = [episode(return_=value) for value in (5.0, 1.0, 9.0)]
    assert [(label, e.return_) for label, e in feedback.typical(episodes)] == [
        ("The median episode", 5.0),
        ("The worst episode", 1.0),
    ]
    assert len(feedback.typical([episode(), episode()])) == 1


def test_feedback_class_sees_what_the_recipe_says():
    """Everything by default; with the paper's recipe the observations before each step, and no more."""
    everything = feedback.for_feedback_class(episode(), sees_all=True)
    assert len(everything["observations"]) == len(everything["actions"]) + 1
    assert everything["terminated"] is True
    assert len(feedback.for_feedback_class(episode(), sees_all=False)) == 30
