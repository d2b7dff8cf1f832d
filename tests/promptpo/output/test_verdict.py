"""The verdict on a result, in words, for every course of a run."""

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptpo
from promptpo.cli.app import run as command_line
from promptpo.cli.show import overview
from promptpo.core.control import StopReason
from promptpo.core.final_test import Outcome
from promptpo.core.returns import Evidence
from promptpo.output.outcome import outcome
from promptpo.output.report.page import write_report
from promptpo.output.report.scores import of_episodes
from promptpo.output.sentences import sentence
from promptpo.output.verdict import Facts, facts_of, verdict
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.state import read_state
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import CRASH

LOCKED = "tests.environments:Test/Locked-v0"


def evidence(returns: Any, success: Any = None) -> Any:
    """Evidence of episodes with these returns."""
    return Evidence(tuple(EpisodeRecord(n, value, 10, success) for n, value in enumerate(returns)))


RETURNS = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=8)
FACTS = st.builds(
    Facts,
    test=st.one_of(st.none(), st.builds(evidence, RETURNS, st.sampled_from([None, True, False]))),
    failed=st.integers(0, 3),
    references=st.fixed_dictionaries(
        {},
        optional={
            name: st.builds(evidence, RETURNS, st.sampled_from([None, True, False]))
            for name in ("random", "zero", "teacher")
        },
    ),
    threshold=st.one_of(st.none(), st.floats(-1e6, 1e6)),
    language_model=st.booleans(),
    tried=st.integers(0, 9),
    incomplete=st.integers(0, 9),
    flat=st.one_of(st.none(), st.floats(-5, 5)),
    never_succeeded=st.booleans(),
    constant=st.sampled_from(["", "2", "[0.0, 1.0]"]),
    out_of_steps=st.booleans(),
    out_of_time=st.booleans(),
)


@given(FACTS)
def test_verdict_is_whole_sentences_without_false_praise(facts: Any) -> None:
    """The word "Solved" requires the threshold or success; clearly worse than a reference is always "Worse"."""
    text = verdict(facts)
    assert text[0].isupper()
    assert text.endswith(".")
    assert "nan" not in text.lower()
    assert "  " not in text
    if facts.test is None:
        assert text.startswith(("No policy ran", "The best policy failed"))
        return
    mean = facts.test.mean_return
    reached = facts.threshold is not None and mean >= facts.threshold
    if text.startswith("Solved"):
        assert not facts.failed
        assert reached or facts.test.success_rate == 1.0
    references = {
        name: reference for name, reference in facts.references.items() if name != "teacher"
    }  # the teacher has its own sentence
    signs = [facts.test.paired_difference(reference).verdict for reference in references.values()]
    assert text.startswith("Worse than") == (min(signs, default=0) < 0)
    if text.startswith("Better than"):
        assert min(signs) > 0


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"flat": 0.0, "test": evidence([0, 0, 0])}, "Every episode of every policy returned 0"),
        ({"never_succeeded": True}, "No episode of any policy succeeded"),
        ({"constant": "2"}, "the same action in every step of its training episodes (2)"),
        ({"out_of_steps": True}, "The step budget ended the search: raise --max-steps"),
        ({}, "(--hint)"),
        ({"language_model": False}, "To do better, use a language model"),
    ],
)
def test_verdict_names_the_cause_and_a_remedy(facts: Any, words: str) -> None:
    """Results are below random actions."""
    references = {"random": evidence([5, 6, 7])}
    text = verdict(Facts(**{"test": evidence([1, 2, 2.5]), "references": references, **facts}))
    assert text.startswith("Worse than random actions: ")
    assert words in text
    assert "--" in text or "promptpo resume" in text


def test_solved_needs_no_advice() -> None:
    """It is qualified if random actions reach the threshold, too."""
    references = {"random": evidence([20, 21, 22]), "zero": evidence([9, 9, 8])}
    solved = verdict(Facts(test=evidence([500, 500, 499]), references=references, threshold=475))
    assert solved == "Solved: the held-out return of 499.7 reaches 475."
    easy = verdict(Facts(test=evidence([500, 480, 499]), references={"random": evidence([490, 500, 491])}, threshold=475))  # fmt: skip
    assert "but random actions returned as much" in easy


@pytest.mark.parametrize(
    ("teacher", "words", "advice"),
    [
        ([5, 6, 7], "Worse than the teacher: 2 against 6", True),
        ([0.1, 0.2, 0.1], "Better than the teacher: 2 against 0.133", False),
        ([2, 2, 2.1], "No better than the teacher: ", False),
        ([1.9, 2, 2.1], "No better than the teacher: 2 against 2 (difference 0 ± 0", False),
    ],
)
def test_teacher_has_its_own_comparison(teacher: Any, words: str, advice: bool) -> None:
    """Advice is given only if the policy is worse than the teacher."""
    references = {"random": evidence([0.0, 0.1, 0.0]), "teacher": evidence(teacher)}
    text = verdict(Facts(test=evidence([1.9, 2, 2.1]), references=references))
    assert text.startswith("Better than random actions")
    assert words in text
    assert ("--hint" in text) == advice


def test_differences_are_paired() -> None:
    """Returns vary by hundreds between seeds, but the policy is better by five on each."""
    theirs = [100.0, 900.0, -300.0, 450.0]
    mine = [value + 5 + n / 10 for n, value in enumerate(theirs)]
    text = verdict(Facts(test=evidence(mine), references={"random": evidence(theirs)}, threshold=math.inf))
    assert text.startswith("Better than random actions")
    assert "difference 5.150 ± 0.065 over 4 shared episodes" in text
    assert "below the" in text


@pytest.fixture(scope="module")
def locked_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Program search on a grid where no reward is ever seen."""
    return promptpo.optimize(
        LOCKED,
        model="search",
        rounds=1,
        candidates=2,
        episodes=3,
        validation_episodes=3,
        test_episodes=5,
        max_steps=8000,
        out=tmp_path_factory.mktemp("runs") / "run",
    )


def test_failure_is_stated_everywhere(locked_run: Any) -> None:
    """The terminal, `result.json`, `show`, the report and the exported file agree."""
    message = locked_run.data["verdict"]
    assert "No better" in message
    assert "use a language model (--model)" in message
    stored = json.loads((locked_run.directory / "result.json").read_text())
    for name in ("random", "zero"):
        reference = stored["references"][name]
        assert reference["episodes"] == 5
        assert reference["ci95"][0] <= reference["mean_return"] <= reference["ci95"][1]
    page = write_report(locked_run.directory, episode=False).read_text()
    for text in (
        outcome(locked_run.data, locked_run.directory),
        overview(locked_run.directory),
        page,
        locked_run.policy_path.read_text(),
    ):
        assert message in text.replace("&#39;", "'")
        assert "random actions" in text.lower()


@pytest.mark.slow
def test_poor_result_exits_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "optimize", LOCKED, "--model", "search", "--rounds", "1", "-n", "1", "--episodes", "2", "--no-film",
    ]  # fmt: skip
    limits = ["--validation-episodes", "2", "--test-episodes", "2", "--max-steps", "2000"]
    assert command_line([*command, *limits, "--json", "--out", str(tmp_path / "run")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"]
    assert set(found["references"]) == {"random", "zero"}


def test_constant_action_is_detected(tmp_path: Path) -> None:
    """Trajectories show it; returns do not."""
    always = "class Policy:\n    def act(self, obs):\n        return 1\n"
    run = optimize(Model(default=always), tmp_path / "run", rounds=1, candidates=1)
    assert "the same action in every step of its training episodes (1)" in run.data["verdict"]


class Blank(gymnasium.Env):
    """Five steps without a reward."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Begin."""
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        """Terminate after five steps."""
        self.steps += 1
        return np.zeros(1, np.float32), 0.0, self.steps >= 5, False, {}


@pytest.mark.slow
def test_tuning_episodes_count_against_flat_returns(tmp_path: Path) -> None:
    """Rewards that only tuning saw did differ; longer episodes are not advised if none is truncated."""
    env = f"{__name__}:Blank"
    run = promptpo.optimize(env, model="search", rounds=1, max_steps=500, out=tmp_path / "run", jobs=1)
    state = read_state(run.directory)
    best = state.history.best()
    assert best is not None
    assert state.test is not None
    ended = Outcome(
        state.history,
        best,
        state.history.evidence(best),
        state.test,
        StopReason(),
        references={"zero": state.test},
    )
    for earned, is_flat in (((0.0, 0.0), True), ((-1.0, 1.0), False)):
        state.history.earned = earned
        text = verdict(facts_of(state, ended, threshold=None, language_model=True))
        assert ("Every episode of every policy returned 0" in text) == is_flat
        assert "--max-episode-steps" not in text


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        (
            (-280.0, True),
            (83.0, False),
            "since success comes first: 88 % of its episodes succeed, 0 % of those",
        ),
        ((-280.0, False), (83.0, False), "Worse than the zero action"),
        ((183.0, True), (83.5, False), "Better than the zero action"),
    ],
)
def test_success_that_outweighs_returns_is_explained(mine: Any, theirs: Any, words: str) -> None:
    """The word "Better" beside a lower return needs its reason."""
    test, zero = (
        Evidence(tuple(EpisodeRecord(n, value + n, 10, success and n > 0) for n in range(8)))
        for value, success in (mine, theirs)
    )
    text = verdict(
        Facts(
            test=test,
            failed=0,
            references={"zero": zero},
            threshold=1e4,
            language_model=True,
            tried=3,
            flat=None,
            never_succeeded=False,
            constant="",
            out_of_steps=False,
        )
    )
    assert words in text
    assert ("success comes first" in text) == (mine[0] < theirs[0] and mine[1] > theirs[1])


def test_timeout_of_the_first_rollouts_suggests_a_hanging_step() -> None:
    """It must not claim that no policy was written."""
    text = verdict(Facts(out_of_time=True))
    assert "--max-seconds" in text
    assert "hang" in text
    assert "hang" not in verdict(Facts(out_of_time=True, tried=1))


@pytest.mark.parametrize(
    ("tried", "incomplete", "limit"), [(2, 2, True), (1, 3, True), (2, 0, False), (3, 1, False)]
)
def test_truncated_answers_suggest_a_higher_token_limit(tried: int, incomplete: int, limit: bool) -> None:
    """The description of the task is not at fault."""
    text = verdict(Facts(tried=tried, incomplete=incomplete))
    assert ("--max-output-tokens" in text) == limit
    assert ("--hint" in text) != limit


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_non_finite_means_are_not_compared(wrong: float) -> None:
    """The affected episodes are counted."""
    fine, odd = evidence([5.0, 6.0, 7.0, 5.0]), evidence([wrong, 1.0, 2.0, wrong])
    message = verdict(Facts(test=fine, references={"random": odd, "zero": evidence([0.0, 1.0, 0.0, 0.0])}))
    assert "zero action" in message
    assert "random" not in message
    alone = verdict(Facts(test=fine, references={"random": odd}))
    assert "random" not in alone
    undefined = verdict(Facts(test=odd, references={"zero": fine}, threshold=-1e9))
    assert not re.search("Solved|NaN|inf", undefined)
    assert "finite numbers" in undefined
    assert "2 of 4 episodes" in sentence("score", of_episodes(odd.episodes))
    assert sentence("score", of_episodes(fine.episodes)).startswith("5.75 (95 %")
    assert sentence("score", of_episodes(fine.episodes[:1])) == "5 (1 episode)"


class NaNInAlternation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Gives NaN once twelve actions have alternated, as random ones hardly do."""

    def reset(self, **given: Any) -> Any:
        """Forget the actions."""
        self.actions: list[int] = []
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        """Play on after the pole has fallen."""
        self.actions.append(int(action))
        observation, _, _, truncated, info = super().step(action)
        last = self.actions[-12:]
        odd = len(last) == 12 and all(a != b for a, b in itertools.pairwise(last))
        return observation, math.nan if odd else 1.0, len(self.actions) >= 20, truncated, info


ALTERNATING = """```python
class Policy:
    def __init__(self):
        self.next = 0

    def act(self, obs):
        self.next = 1 - self.next
        return self.next
```"""


@pytest.mark.parametrize(("policy", "undefined"), [(ALTERNATING, True), (CRASH, False)])
def test_non_finite_rewards_are_blamed_on_the_environment(
    tmp_path: Path, policy: str, undefined: bool
) -> None:
    """A policy that failed is at fault itself."""
    run = optimize(
        Model(default=policy),
        tmp_path / "run",
        wrappers=[NaNInAlternation],
        rounds=1,
        candidates=1,
        repairs=0,
    )
    assert ("NaN or infinite rewards" in run.data["verdict"]) == undefined
    assert ("--hint" in run.data["verdict"]) != undefined


def test_rounding_errors_do_not_make_a_policy_better() -> None:
    """The tolerance is relative to the size of the references' returns."""
    test, zero = evidence([0.0] * 9), evidence([-4e-9, -3e-9, -5e-9] * 3)
    random_actions = evidence([-6.0, -5.0, -7.0] * 3)
    message = verdict(Facts(test=test, references={"random": random_actions, "zero": zero}))
    assert message.startswith("No better than the zero action")
    assert verdict(Facts(test=test, references={"zero": zero})).startswith("Better than the zero action")


def test_report_is_named_only_if_it_was_written(locked_run: Any, tmp_path: Path) -> None:
    """A full disk may prevent it; the policy is whole all the same."""
    assert f"Report: {locked_run.directory}" in outcome(locked_run.data, locked_run.directory)
    assert "Report: " not in (shown := outcome(locked_run.data, tmp_path))
    assert f"Policy: {tmp_path}" in shown
