"""Prompts, word for word, and the bound on their length."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from syrupy.assertion import SnapshotAssertion

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.records import Attempt, Candidate, Diagnosis, Told
from promptpo.search.history import History
from promptpo.search.planning import Plan
from promptpo.telling import feedback, prompting
from promptpo.telling.known import Known
from promptpo.telling.standing import Where, seconds_in_words
from sandbox import Episode, Trajectory

SPEC = '"""A cart on a track."""\n\nclass State:\n    position: float  # m'


def system(**more: Any) -> Any:
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


def attempt(
    id_: Any, *returns: Any, outcome: str = "ok", error: str = "", source: str = "", **more: Any
) -> Any:
    """An attempt with these returns, and a diagnosis of its worst and its best episode."""
    episodes = tuple(EpisodeRecord(seed, value, 100, terminated=True) for seed, value in enumerate(returns))
    evaluation = Evaluation(outcome, episodes, 100 * len(returns), error=error, policy_seconds=0.02)
    source = (
        source
        or f'"""The idea of {id_}."""\n\n\nclass Policy:\n    def act(self, obs):\n        return {id_[-1]} + obs\n'
    )
    told = (
        tuple(
            Told(role, by, value, 100, "terminated", f"{id_} leans {value}")
            for role, by, value in (("worst", 0, min(returns)), ("best", 1, max(returns)))
        )
        if len(returns) > 1
        else ()
    )
    diagnosis = more.pop(
        "diagnosis", Diagnosis(told, "Steps 80 to 99, the last ones:\nstep|lean|reward\n80|0.2|1", "feedback")
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


def known(*attempts: Any, **more: Any) -> Any:
    """What may be told after two rounds."""
    history = History(
        list(attempts or (OLD, PARTNER, ALIKE, WRITTEN, BEST, CRASHED)), rounds=2, leader_id="r2c2t"
    )
    history.looks["r2c2t"] = [Evaluation("ok", (EpisodeRecord(10_000_000, 80.0, 100),), 100)]
    history.references = {
        "random": Evidence(tuple(EpisodeRecord(n, 9.0 + n, 20) for n in range(3))),
        "zero": Evidence((EpisodeRecord(0, 8.0, 9),)),
    }
    history.find_alike()
    where = Where(
        3, 5, 3, 3, 100_000, 60_000, 17, tunes=True, tuning_steps=9000, length=100.0, threshold=195.0
    )
    return Known(history, where, {"feedback": "leans = the largest lean, rad"}, **more)


def plan(direction: Any, **more: Any) -> Any:
    """A plan for the third round."""
    values = {"parents": (BEST,), "lines": (OLD, PARTNER), "stalled": 2, "may_end": True}
    return Plan(3, 0, direction, **{**values, **more})


def test_system_prompt_is_pinned(snapshot: SnapshotAssertion) -> None:
    """The contract and the spec, as every call of a run begins."""
    assert system() == snapshot


def test_system_prompt_without_tuning_is_pinned(snapshot: SnapshotAssertion) -> None:
    """Where nothing tunes numbers, PARAMS are not mentioned."""
    text = system(tune=False, success=True, horizon=None, clips=False)
    assert "PARAMS" not in text
    assert "clipped" not in text
    assert text == snapshot


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"strategy": "feedback control", "variant": "Another one."},
        {"asks_strategies": True, "places": True},
    ],
)
def test_first_prompt_is_pinned(snapshot: SnapshotAssertion, more: Any) -> None:
    """Round 1."""
    assert prompting.policy_prompt(Plan(1, 0, "first", **more), known(), max_tokens=1000) == snapshot


@pytest.mark.parametrize(
    ("direction", "more"),
    [
        ("improve", {"aspect": "Robustness: it is worst on start 3 (20).", "may_revise": True}),
        ("improve", {"parents": (), "may_end": False}),
        ("different", {"strategy": "planning"}),
        ("fresh", {"strategy": "planning"}),
        ("merge", {"parents": (BEST, PARTNER), "aspect": "r1c2 is better on start 3 (+35)."}),
    ],
)
def test_later_prompts_are_pinned(snapshot: SnapshotAssertion, direction: str, more: Any) -> None:
    """Each kind of request of a later round."""
    assert prompting.policy_prompt(plan(direction, **more), known(), max_tokens=10_000) == snapshot


def test_the_published_prompt_is_pinned(snapshot: SnapshotAssertion) -> None:
    """Every winner with its code and every episode, and all reflections."""
    told = known()
    winners = plan(
        "improve", winners=True, shown=(PARTNER, BEST), reflections=("It must look ahead.",), may_end=False
    )
    assert prompting.policy_prompt(winners, told, max_tokens=10_000) == snapshot


@pytest.mark.parametrize(
    ("template", "values"),
    [
        (
            "repair",
            {
                "subject": "policy",
                "what": "crashed",
                "source": "x = 1",
                "error": "line 1: bad",
                "detail": "Traceback",
            },
        ),
        (
            "repair",
            {"subject": "feedback class", "what": "failed", "source": "x = 1", "error": "bad", "detail": ""},
        ),
        ("continue", {"what": "was cut off", "shorter": 120}),
        (
            "reflection",
            {"title": "r1c1", "code": "x = 1", "feedback": "Mean return 3.", "earlier": ["r1c2: 4"]},
        ),
        ("feedback_class", {"form": "a list.", "sees_all": True, "legend": True}),
        ("feedback_class", {"form": "a list.", "sees_all": False, "legend": False}),
        ("feedback_system", {"spec": SPEC, "observation_form": "an int", "action_form": "an int"}),
    ],
)
def test_other_prompts_are_pinned(snapshot: SnapshotAssertion, template: str, values: Any) -> None:
    """Repair, continuation, reflection and the feedback class."""
    assert prompting.render(template, **values) == snapshot


def test_a_missing_value_is_an_error() -> None:
    """A template never leaves a hole in a prompt."""
    with pytest.raises(Exception, match="undefined"):
        prompting.render("reflection", title="r1c1")


def test_every_candidate_of_the_last_round_is_told_failures_first() -> None:
    """The crash with its error, then the others with their worst episode; who behaves alike in one sentence."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    others = text[text.index("# The other candidates") : text.index("# Earlier candidates")]
    assert others.index("r2c3: crashed: line 3: IndexError") < others.index("r2c1")
    assert "r2c1 cannot be told from r1c2 (same return in all 3 episodes that both played)" in others
    assert "r2c2:" not in others  # told by what tuning made of it
    assert "20 ± " not in others


def test_of_two_programs_that_differ_in_numbers_one_is_printed() -> None:
    """The tuned one; what it was is a table with bounds and a mark."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    assert text.count("class Policy:") == 1
    assert "- gain 3.7 (was: 1.2) in 0 .. 3.7, at its upper bound" in text
    assert "the first two episodes were cut" in text
    merged = prompting.policy_prompt(
        plan("merge", parents=(BEST, WRITTEN), aspect="x"), known(), max_tokens=10_000
    )
    assert merged.count("class Policy:") == 1
    assert "The same program as r2c2t but for these numbers:\n- gain 1.2 (r2c2t: 3.7)" in merged


def test_one_number_is_told_of_a_candidate() -> None:
    """Training and validation together, everywhere; never the training mean alone."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    assert "Return 75 ± 19 over 4 episodes" in text
    assert "v1: 80" in text
    assert "73.3" not in text


def test_references_and_what_is_left_are_told() -> None:
    """What knows nothing earns, steps, calls, tuning, time."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    for words in (
        "round 3 of 5",
        "60,000 of 100,000 environment steps and 17 model calls",
        "about 90 episodes of 100 steps, or more shorter ones, are planned",
        "random actions earn 10 ± 0.58 over 3 episodes; doing nothing earns 8 over 1 episode",
        "solved from a mean return of 195",
    ):
        assert words in text


def test_a_legend_stands_beside_the_summaries_that_need_it() -> None:
    """Of the class that wrote them; of one that wrote none of them there is none."""
    told = known()
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    assert "leans = the largest lean, rad" in text
    other = Known(told.history, told.where, {"r9.c1": "unused"})
    assert "unused" not in prompting.policy_prompt(plan("improve", aspect="x"), other, max_tokens=10_000)


@pytest.mark.parametrize("bound", [2000, 600, 400])
def test_the_history_is_shortened_to_fit(bound: int) -> None:
    """The best attempt's code goes last; the request itself always stays."""
    many = [attempt(f"r2c{n}", float(n), float(n + 1), float(n + 3)) for n in range(9, 0, -1)]
    told = Known(History(many, rounds=2, leader_id="r2c9"), Where(3, 5))
    text = prompting.policy_prompt(plan("improve", parents=many[:1], lines=()), told, max_tokens=bound)
    assert prompting.tokens(text) <= bound
    assert "return 9 + obs" in text
    assert "does better than r2c9" in text


def test_a_prompt_aims_at_a_length() -> None:
    """Much that is known is told in few words, and what matters stays."""
    wordy = "stood and fell and stood again " * 60
    told = tuple(
        Told(role, n, 9.0 + n, 100, "terminated", wordy) for n, role in enumerate(("worst", "median", "best"))
    )
    many = [attempt(f"r2c{n}", n + 1.0, n + 3.0, diagnosis=Diagnosis(told)) for n in range(9, 0, -1)]
    text = prompting.policy_prompt(
        plan("improve", parents=many[:1], lines=()),
        Known(History(many, rounds=2, leader_id="r2c9"), Where(3, 5)),
        max_tokens=100_000,
        system_length=5000,
    )
    assert 3000 < len(text) < 7000
    assert "r2c1: 3 ± 1 over 2 episodes" in text
    assert text.count("stood and fell") > 9


def test_zeros_say_nothing() -> None:
    """An observation of nothing but zeros is left out of a repair prompt; others stay."""
    zeros = "Traceback\nobs was array of shape (4,) and dtype float32 starting [0., 0., 0., 0.]"
    assert feedback.without_zeros(zeros) == "Traceback"
    ones = zeros.replace("[0.,", "[0.2,")
    assert feedback.without_zeros(ones) == ones
    assert feedback.without_zeros("obs was 0") == "obs was 0"


def episode(n: int = 30, return_: float = 12.0) -> Any:
    """A recorded episode."""
    observations = [np.array([t / 10, -1.0]) for t in range(n + 1)]
    trajectory = Trajectory(observations, [t % 2 for t in range(n)], [0.4] * n)
    return Episode(0, return_, n, True, False, None, 0, 0.0, trajectory, None)


def test_built_in_summary_shows_first_and_last_steps() -> None:
    """A few evenly spread steps, with the observation after the last one."""
    text = feedback.built_in_summary(episode())
    assert text.splitlines()[0].startswith("step 0: obs [0, -1] action 0 reward 0.4")
    assert "step 29" in text
    assert text.splitlines()[-1] == "after the last step: obs [3, -1]"


def test_the_beginning_of_a_large_array_is_shown_only_where_it_says_something() -> None:
    """No dump of zeros."""
    assert feedback.compact(np.zeros((7, 7, 3))) == "an array of shape (7, 7, 3)"
    assert feedback.compact(np.arange(30)).startswith("[0, 1, 2, 3")
    assert feedback.compact(np.zeros(3)) == "[0, 0, 0]"
    assert feedback.compact(np.array([1e-17, 0.5, np.nan])) == "[0, 0.5, NaN]"


def test_the_episodes_that_are_told() -> None:
    """The worst, the median and the best; another low one where returns fall into two groups."""
    episodes = [episode(return_=value) for value in (5.0, 1.0, 9.0)]
    assert [(role, e.return_) for role, e in feedback.chosen(episodes)] == [
        ("worst", 1.0),
        ("median", 5.0),
        ("best", 9.0),
    ]
    two_groups = [episode(return_=value) for value in (300.0, -2.0, 298.0, -9.0, 299.0)]
    assert [role for role, _ in feedback.chosen(two_groups)] == ["worst", "low", "median", "best"]
    assert [role for role, _ in feedback.chosen([episode(), episode()])] == ["typical"]
    assert feedback.chosen([]) == []


def test_feedback_class_sees_what_the_recipe_says() -> None:
    """Everything by default; with the paper's recipe the observations before each step, and no more."""
    everything = feedback.for_feedback_class(episode(), sees_all=True)
    assert len(everything["observations"]) == len(everything["actions"]) + 1
    assert everything["terminated"] is True
    assert len(feedback.for_feedback_class(episode(), sees_all=False)) == 30


def test_only_continuous_actions_are_clipped() -> None:
    """Anywhere inside the space."""
    box = spaces.Box(-1, 1, (2,))
    assert prompting.is_continuous(spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Tuple((box,))}))
    assert not prompting.is_continuous(spaces.Dict({"a": spaces.MultiDiscrete([2, 3])}))


def test_the_last_round_is_offered_no_new_feedback_class() -> None:
    """It would be in force from the next round on, and there is none."""
    told = known()
    last = replace(told, where=replace(told.where, round=5))
    asked = plan("improve", aspect="Speed.", may_revise=True)
    assert "second ```python fence" in prompting.policy_prompt(asked, told, max_tokens=10_000)
    assert "second ```python fence" not in prompting.policy_prompt(asked, last, max_tokens=10_000)


def test_only_slow_programs_hear_of_their_seconds() -> None:
    """Less than ten milliseconds a call are no matter, and differ from machine to machine."""
    quick = attempt("r1c1", 1.0)
    slow = replace(quick, evaluation=replace(quick.evaluation, policy_seconds=5.0))
    assert seconds_in_words(quick) == ""
    assert seconds_in_words(slow) == "A call of `act` took about 50 ms (allowed: 1 s, and 60 s an episode)."


def test_a_failed_candidate_shows_how_it_began() -> None:
    """As long as there is room, and before the words on its worst episode."""
    began = Diagnosis(
        ALIKE.diagnosis.episodes, "", "feedback", "How it began (start of 9 steps):\nstep|lean\n0|0.1"
    )
    poor = attempt("r2c4", 1.0, 2.0, 3.0, diagnosis=began)
    fair = attempt("r2c5", 71.0, 92.0, 13.0, diagnosis=began)
    told = known(OLD, PARTNER, WRITTEN, BEST, poor, fair)
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    others = text[text.index("# The other candidates") : text.index("# Earlier candidates")]
    assert others.count("How it began") == 1
    assert others.index("r2c4:") < others.index("How it began") < others.index("r2c5:")


def test_thoughts_of_giving_up_are_told() -> None:
    """One of three answers, with its reason."""
    told = known()
    told.history.thoughts = (("all poles stand",), 3)
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    assert '1 of the 3 answers of the last round saw no way to improve: "all poles stand".' in text


def test_a_replaced_feedback_class_is_told_apart() -> None:
    """Whose words stand where, since when, and that another will write the next ones."""
    told = known()
    newer = replace(WRITTEN, diagnosis=replace(WRITTEN.diagnosis, by="r1.c1"))
    told.history.attempts = [OLD, PARTNER, ALIKE, newer, BEST]
    both = Known(
        told.history,
        told.where,
        {"feedback": "a = b", "r1.c1": "c = d", "r2.c1": "e = f"},
        {"r1.c1": 2, "r2.c1": 3},
    )
    text = prompting.policy_prompt(plan("improve", aspect="x"), both, max_tokens=10_000)
    assert "In the summaries of r2c2t, r2c1: a = b" in text
    assert "In the summaries of r2c2 (by the feedback class in force since round 2): c = d" in text
    assert "Since round 3 another feedback class is in force" in text
    assert "e = f" not in text


def test_code_and_legend_stay_whole_where_room_is_short() -> None:
    """Labels are explained as long as they are shown, and no program is cut in the middle."""
    told = known()
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=1000)
    assert "return int(self.gain * obs[0] > 0)\n```" in text
    assert "leans = the largest lean, rad" in text
