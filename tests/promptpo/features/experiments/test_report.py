"""Reports of experiments are short and clean whatever the experiment printed; the example runs as it stands."""

import re
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest
from gymnasium import spaces
from hypothesis import example as instance
from hypothesis import given
from hypothesis import strategies as st

from promptpo.features.experiments import report
from promptpo.features.experiments.prompts import example
from promptpo.features.experiments.records import Experiment
from promptpo.features.experiments.report import FIT
from promptpo.program import answers
from promptpo.prompts import limits
from promptpo.prompts.feedback import for_feedback_class
from promptpo.prompts.shortening import tidy
from promptpo_sandbox import Sandbox, Trial, check_source
from promptpo_sandbox.text import clean

SOURCE = '"""Push to the left."""\n\n\nclass Probe:\n    def act(self, obs):\n        return 0\n'
TEXTS = st.text(max_size=400) | st.text("#`~ \n\t\x1b\u202e\ud800ab", max_size=400)


@given(TEXTS)
@instance("# # What to do now\n````\n\n#\n\n#\nx")
def test_a_report_stays_text(text: str) -> None:
    """Nothing in it is taken for a fence, a heading or a control sequence, nor leaves it gaping; twice is once."""
    told = tidy(text)
    assert clean(told) == told
    assert "```" not in told
    assert "~~~" not in told
    assert not re.search(r"^\s*#", told, re.MULTILINE)
    assert "\n\n\n" not in told
    assert tidy(told) == told


def test_reports_lose_lines_from_their_end_and_no_fit() -> None:
    """What short ones leave, long ones have; what was fitted comes first where lines are lost."""
    table = "\n".join(f"step {n}: moved {n}" for n in range(40))
    long = "\n\n".join([table, table, table, table, "more words\nFIT: gain 2.5\n" + table])
    short = "FIT: drag 0.1"
    told = report.report_of([long, short, "", "none"])
    first, _, second = told.partition("\n\nEpisode 2:\n")
    assert second == f"{short}\n\nEpisode 4:\nnone"
    assert first.startswith("Episode 1:\nFIT: gain 2.5\nstep 0: moved 0\n")
    assert first.endswith(" more lines)")
    assert len(told) <= limits.REPORT
    ten = report.report_of([f"{n}\n{long}" for n in range(10)])
    assert len(ten) <= limits.REPORT
    assert ten.count("FIT: gain 2.5") == 1
    crowded = Experiment("p1.1", SOURCE, "\n".join(f"FIT: {n} {'x' * 80}" for n in range(20)), "", steps=7)
    assert "p1.1 (0 episodes, 7 steps): Push to the left." in report.section([crowded], 900)
    assert report.report_of([short, table, short]) == f"Episode 1, 3:\n{short}\n\nEpisode 2:\n{table}"


@given(
    st.lists(
        st.lists(st.sampled_from(["a row", "another row", "FIT: k 1", "FIT: k 2", "FIT: k 3"]), max_size=60),
        max_size=10,
    ),
    st.integers(400, 3000),
)
def test_a_fit_stays_under_its_episode_and_who_is_left_out_is_named(said: list[list[str]], room: int) -> None:
    """However little room there is: every fit once, below an episode that reported it; every other episode by its number."""
    reports = ["\n".join([f"episode {n}", *lines]) for n, lines in enumerate(said, 1)]
    experiment = Experiment("p1.1", SOURCE, report.report_of(reports), "", steps=7)
    text = report.section([experiment], room)
    assert len(text) <= room
    assert FIT not in text.partition("\nEpisode ")[0]
    told: list[str] = []
    for n, lines in enumerate(said, 1):
        begins = text.find(f"\nEpisode {n}:\n")
        if begins < 0:
            assert re.search(rf"No room for [\d, ]*\b{n}\b", text)
            continue
        fits = re.findall(r"^FIT: .*", text[begins:].split("\n\n")[0], re.MULTILINE)
        assert set(fits) <= set(lines)
        told += set(fits)
    assert len(told) == len(set(told))


def test_failures_are_told_in_a_line_and_nothing_where_nothing_was_tried() -> None:
    """A dropped experiment says why; an answer without one says nothing to later prompts."""
    dropped = Experiment("p0.1", SOURCE, "", "it crashed: line 3: KeyError", steps=7)
    assert report.section([dropped], 900).endswith(
        "p0.1 (0 episodes, 7 steps): Push to the left.\nNo report: it crashed: line 3: KeyError."
    )
    assert report.section([Experiment("p0.0", "", "", "none was wanted")], 900) == ""


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox for the module."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_the_example_runs_as_it_stands(box: Sandbox, env_id: str) -> None:
    """In tasks of all common kinds it acts, and says something of what it saw."""
    env = gymnasium.make(env_id)
    source = example(env.observation_space, env.action_space)
    rollout = box.rollout(report.as_policy(source, 1), [env], [Trial(0, None, 60)], record=True)
    assert rollout.failure is None
    data = for_feedback_class(rollout.episodes[0], sees_all=True)
    result = box.call(source, "Probe.report", data)
    assert result.failure is None
    assert result.value
    assert f"after {len(data['rewards'])} steps" in result.value
    assert (
        "action" in result.value or len(data["rewards"]) < 5
    )  # a game of cards may be over before anything is held


@pytest.mark.parametrize(
    "action",
    [spaces.MultiDiscrete([2, 3]), spaces.Box(2.0, 3.0, (2,)), spaces.Dict({"a": spaces.Discrete(2)})],
)
def test_the_example_is_code_for_any_actions(action: Any) -> None:
    """Where only the task can say what to do, a place is left open; it passes the gate all the same."""
    assert check_source(example(spaces.Dict({"a": spaces.Discrete(2)}), action)) is None


POLICY = "```python\nclass Policy:\n    def act(self, obs):\n        return 1\n```\n"
PROBE = "```python\nclass Probe:\n    def act(self, obs):\n        return 0\n```\n"


def test_a_probe_is_no_policy_and_a_policy_no_probe() -> None:
    """Beside each other both are found, in either order; alone, neither stands in for the other."""
    for text in (POLICY + PROBE, PROBE + POLICY):
        assert "return 1" in answers.extract_program(text).source
        [found] = report.modules_in(text)
        assert "return 0" in found
    assert answers.extract_program(PROBE).problem == "no_code"
    assert answers.extract_program(PROBE.replace("return 0", "return (")).problem == "no_code"
    assert report.modules_in(POLICY) == ()
    assert len(report.modules_in(PROBE + PROBE.replace("0", "2") + PROBE)) == 2
    bare = PROBE.replace("```python\n", "").replace("```\n", "")
    assert len(report.modules_in(bare)) == 1


def test_an_experiment_with_a_policy_inside_is_not_taken_for_the_answer() -> None:
    """The last module wins, but for one that brings an experiment; where there is no other it is still a policy."""
    both = PROBE.replace(
        "class Probe", "class Policy:\n    def act(self, obs):\n        return 2\n\n\nclass Probe"
    )
    assert "return 1" in answers.extract_program(POLICY + both).source
    assert "return 2" in answers.extract_program(both).source
    (module,) = report.modules_in(POLICY + both)
    assert "rename it" in report.problem_of(module)


def test_how_episodes_ended_is_told_whatever_a_report_says() -> None:
    """An author who expected nobody to fall reports no falls."""
    fell = Experiment("p0.1", SOURCE, "all went well", episodes=3, steps=471, ends=(119, 40))
    assert "p0.1 (3 episodes, 471 steps; 2 terminated, after 40 to 119 steps)" in report.section([fell], 900)
    once = Experiment("p0.1", SOURCE, "all went well", episodes=2, steps=471, ends=(119,))
    assert "471 steps; 1 terminated, after 119 steps)" in report.section([once], 900)
