"""What experiments showed, within a bound and clean whatever they reported; the example runs as it stands."""

import itertools
import re
import time
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest
from gymnasium import spaces
from hypothesis import example as instance
from hypothesis import given
from hypothesis import strategies as st

from promptpo.program import answers
from promptpo.run.records import Experiment
from promptpo.telling import experiments, rows
from promptpo.telling.experimenting import example
from promptpo.telling.feedback import for_feedback_class
from sandbox import Sandbox, Trial, check_source
from sandbox.text import clean

SOURCE = '"""Push to the left."""\n\n\nclass Probe:\n    def act(self, obs):\n        return 0\n'
TEXTS = st.text(max_size=400) | st.text("#`~ \n\t\x1b\u202e\ud800ab", max_size=400)


@given(TEXTS)
@instance("# # What to do now\n````\n\n#\n\n#\nx")
def test_a_report_stays_text(text: str) -> None:
    """Nothing in it is taken for a fence, a heading or a control sequence, nor leaves it gaping; twice is once."""
    tidy = experiments.tidy(text)
    assert clean(tidy) == tidy
    assert "```" not in tidy
    assert "~~~" not in tidy
    assert not re.search(r"^\s*#", tidy, re.MULTILINE)
    assert "\n\n\n" not in tidy
    assert experiments.tidy(tidy) == tidy


@given(
    st.lists(st.tuples(st.integers(0, 5), TEXTS | st.integers(0, 3000).map(lambda n: "word " * (n // 5)))),
    st.integers(-100, 7000),
)
def test_the_section_is_bounded(reports: list[tuple[int, str]], most: int) -> None:
    """However many there are and whatever they say, it fits, is clean, and tells the newest."""
    rounds = sorted(round_ for round_, _ in reports)
    told = [
        Experiment(f"p{round_}.{n}", SOURCE, experiments.tidy(text)[: experiments.MOST_REPORT], "it failed")
        for n, (round_, (_, text)) in enumerate(zip(rounds, reports, strict=True), 1)
    ]
    text = experiments.section(told, most)
    assert len(text) <= max(0, most)
    assert clean(text) == text
    assert bool(text) == (bool(told) and most >= 2 * experiments.LEAST)
    if text:
        assert f"\n{told[-1].id} (" in text


def test_the_newest_is_told_first_and_whole() -> None:
    """What it leaves is shared by earlier ones, of which none is lost; where it takes all, each keeps a beginning."""
    long = "\n".join(f"line {n}{'!' if n % 2 else '?'} says something" for n in range(60))
    old, new = Experiment("p0.1", SOURCE, long), Experiment("p2.1", SOURCE, long)
    text = experiments.section([old, new], 2000)
    assert text.index("p2.1") < text.index("p0.1")
    assert [part.count("says") > 3 for part in text.split("\n\n")[1:3]] == [True, True]
    text = experiments.section([old, new], 2600)
    assert long in text.split("p0.1")[0]
    brief = Experiment("p3.1", SOURCE, "left is right")
    text = experiments.section([old, new, brief], 3200)
    assert "left is right" in text
    assert min(part.count("says") for part in text.split("\n\n")[2:4]) > 40


def test_experiments_of_earlier_rounds_give_way_first() -> None:
    """Once room is short, those older than two rounds keep a few whole rows, the last one too; newer ones stay whole."""
    long = "\n".join(f"line {n} says what came of it" for n in range(60))
    old = [Experiment(f"p0.{n}", SOURCE, long) for n in (1, 2)]
    told = experiments.part([*old, Experiment("p2.1", SOURCE, long)], 4).forms[1]
    title, new, _, second = told.split("\n\np")
    assert title == experiments.TITLE
    assert long in new
    assert "more rows between them)" in second
    assert "line 1 says what came of it\n" in second
    assert "line 59 says what came of it\n" in second
    assert long in experiments.part(old, 2).forms[1]
    wide = Experiment("p0.1", SOURCE, "top row after each step:\n" + "96 " * 900)
    assert experiments.part([wide], 4).forms[1].count("96") > 60, (
        "of a line that is too long as much as there is room for"
    )


def test_what_an_experiment_did_is_shown_where_it_is_short() -> None:
    """Without it a report's labels mean nothing: how it acts, with the constants that it names, and not how it reports."""
    probe = (
        '"""Hold."""\nimport numpy as np\nHELD = 7\nNAMES = ["a"]\n\n\nclass Probe:\n    def __init__(self):\n        self.t = 0\n\n'
        "    def side(self):\n        return self.t // HELD\n\n    def act(self, obs):\n        self.t += 1  # on\n        return self.side()\n\n"
        "    def report(self, trajectory):\n        return NAMES[0]\n"
    )
    text = experiments.section([Experiment("p0.1", probe, "phase 2: 0.3")], 900)
    code = text.split("```python\n")[1].split("\n```")[0]
    compile(code, "probe", "exec")
    assert "HELD = 7" in code
    assert "def side" in code
    assert "report" not in code
    assert "NAMES" not in code
    assert text.endswith("```\nphase 2: 0.3")
    long = probe.replace("        return self.side()", "        x = 1\n" * 99 + "        return self.side()")
    assert "```" not in experiments.section([Experiment("p0.1", long, "phase 2: 0.3")], 900)
    held = probe.replace("self.t += 1  # on\n        return self.side()", "return self.policy.act(obs)")
    assert "```" not in experiments.section([Experiment("p0.1", held, "phase 2: 0.3")], 900)


def test_what_was_asked_ends_with_a_sentence() -> None:
    """A docstring that is too long ends after a sentence; of one sentence a whole clause is told."""
    source = SOURCE.replace(
        "Push to the left.", "Push to the left for a while. " + "Then to the right again. " * 20
    )
    head = experiments.section([Experiment("p0.1", source, "x")], 2000).splitlines()[2]
    assert head.endswith("Then to the right again.")
    assert len(head) < 580
    one = SOURCE.replace("Push to the left.", "Push to the left, " * 13 + "and wait.")
    assert "and wait.\n" in experiments.section([Experiment("p0.1", one, "x")], 2000)


def test_of_two_episodes_both_are_told() -> None:
    """The second is not dropped where a report has no room: rows of both are left out, evenly, and counted."""
    each = ["\n".join(f"{kind} {n}: {'-' * n} x" for n in range(20)) for kind in ("push", "pull")]
    one = Experiment("p0.1", SOURCE, experiments.report_of(each))
    text = experiments.section([one], len(one.report) - 100)
    assert "left out" not in text
    first, second = text.split("Episode 2:")
    for kind, part in (("push", first), ("pull", second)):
        told = [int(n) for n in re.findall(rf"{kind} (\d+):", part)]
        assert told[:2] == [0, 1]
        assert told[-1] == 19
        assert max(b - a for a, b in itertools.pairwise(told)) < 5
        assert f"({20 - len(told)} more row" in part


def test_rows_that_several_episodes_have_go_first() -> None:
    """What the second says again makes room for what only it says; rows of a map and of figures are no repetition."""
    same = [f"the door number {n} does nothing when it is pushed with empty hands" for n in range(9)]
    maps = ["| #####", "| #k.D#", "| #####"]
    mine = [f"gain {n}: 0.{n}3, 0.{n}7" for n in range(8)]
    report = experiments.report_of(
        ["\n".join([*maps, *same, *mine])] * 2 + ["\n".join([*maps, "step 9: it was open"])]
    )
    one = Experiment("p0.1", SOURCE, report)
    text = experiments.section([one], len(report) - 250)
    assert text.count("with empty hands") == 9
    assert "(9 rows as before)" in text
    assert text.count("| #k.D#") == 3
    assert text.count("gain 7: 0.73, 0.77") == 2
    assert "more row" not in text


def test_what_an_experiment_was_about_keeps_its_last_sentence() -> None:
    """It says how to read the report; what has no room is left out before it."""
    source = SOURCE.replace(
        "Push to the left.",
        "Push to the left. " + "Then to the right again. " * 30 + "Reported: speed in m/s.",
    )
    head = experiments.section([Experiment("p0.1", source, "x")], 2000).splitlines()[2]
    assert "Push to the left." in head
    assert head.endswith("Reported: speed in m/s.")
    assert len(head) < 580


def test_a_map_keeps_its_walls() -> None:
    """Lines that begin like headings are no headings, and stay aligned with the others."""
    assert experiments.tidy("x -3..3\n#####\n#k.D#\n  S#") == "| x -3..3\n| #####\n| #k.D#\n|   S#"


def test_lines_that_are_said_again_and_again_are_told_once() -> None:
    """With how often; two of a kind stay."""
    assert experiments.tidy("a\nb\nb\nb\nb\nc\nc") == "a\nb (so 4 times)\nc\nc"


def test_failures_are_told_in_a_line_and_nothing_where_nothing_was_tried() -> None:
    """A dropped experiment says why; an answer without one says nothing to later prompts."""
    dropped = Experiment("p0.1", SOURCE, "", "it crashed: line 3: KeyError", steps=7)
    assert experiments.section([dropped], 900).endswith(
        "p0.1 (0 episodes, 7 steps): Push to the left. It gave no report: it crashed: line 3: KeyError."
    )
    assert experiments.section([Experiment("p0.0", "", "", "none was wanted")], 900) == ""
    assert experiments.part([], 2).text == ""


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
    rollout = box.rollout(experiments.as_policy(source, 1), [env], [Trial(0, None, 60)], record=True)
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
        assert "return 1" in answers.extract(text).source
        [found] = experiments.modules_in(text)
        assert "return 0" in found
    assert answers.extract(PROBE).problem == "no_code"
    assert answers.extract(PROBE.replace("return 0", "return (")).problem == "no_code"
    assert experiments.modules_in(POLICY) == ()
    assert len(experiments.modules_in(PROBE + PROBE.replace("0", "2") + PROBE)) == 2
    bare = PROBE.replace("```python\n", "").replace("```\n", "")
    assert len(experiments.modules_in(bare)) == 1


def test_an_experiment_with_a_policy_inside_is_not_taken_for_the_answer() -> None:
    """The last module wins, but for one that brings an experiment; where there is no other it is still a policy."""
    both = PROBE.replace(
        "class Probe", "class Policy:\n    def act(self, obs):\n        return 2\n\n\nclass Probe"
    )
    assert "return 1" in answers.extract(POLICY + both).source
    assert "return 2" in answers.extract(both).source
    (module,) = experiments.modules_in(POLICY + both)
    assert "call it something else" in experiments.problem_of(module)


def test_of_many_episodes_each_is_told_as_far_as_there_is_room() -> None:
    """Each tried something else: all have their share, or some none where a share would say nothing, which is said."""
    lines = "; ".join(f"step {t}: it leans to the left" for t in range(9))
    report = experiments.report_of([f"gain {n}: {lines}" for n in range(10)])
    one = Experiment("p0.1", SOURCE, report)
    text = experiments.section([one], 2650)
    assert len(text) <= 2650 < len(report)
    assert all(f"gain {n}: step 0" in text for n in range(10))
    assert rows.OTHERS not in text
    text = experiments.section([one], 1400)
    assert len(text) <= 1400
    shown = text.count("Episode ")
    assert 3 < shown < 10
    assert all(f"gain {n}: step 0" in text for n in (0, 9))
    assert text.endswith(rows.OTHERS)


def test_what_is_left_out_twice_is_said_once() -> None:
    """A report that was shortened before it was kept says in one line how many rows are missing in all."""
    lines = [f"t={n}: angle {n}.25, speed {n}.5" for n in range(40)]
    once = rows.rows_in(lines, 600)
    twice = rows.rows_in(once.split("\n"), 250)
    assert len(twice) <= 250
    assert twice.count("more rows") == 1
    shown = [line for line in twice.split("\n") if line in lines]
    assert twice.endswith(f"({len(lines) - len(shown)} more rows)")


def test_three_long_reports_are_told_whole() -> None:
    """What they say was paid for with steps, and the next request may be the first that can use it."""
    report = "\n".join(f"joint {n}: torque +0.5 moves it by {n}.125 rad" for n in range(60))
    three = [Experiment(f"p0.{n}", SOURCE, report) for n in (1, 2, 3)]
    assert 2000 < len(report) <= experiments.MOST_REPORT
    assert experiments.section(three, experiments.MOST_TOLD).count(report) == 3
    assert experiments.part(three, 2).text.count(report) == 3
    assert experiments.section(three, experiments.SHORTER[0]).count(report) == 0


@given(
    st.lists(TEXTS | st.integers(0, 900).map(lambda n: "row of words\n" * (n // 5)), min_size=1, max_size=12),
    st.integers(20, 3000),
)
def test_reports_of_many_episodes_are_bounded(reports: list[str], most: int) -> None:
    """Whatever they say, what is told fits, however little room there is."""
    assert len(rows.of_every_episode(experiments.report_of(reports), most)) <= most


def test_episodes_that_differ_by_little_are_told_once() -> None:
    """Whoever tries two things in turns repeats them; where room is short that they agree is told, not what they say again."""

    def episode(sign: int, nudge: float) -> str:
        rows = [f"at {t}: torque {sign}.0 moved it by {sign * t / 4 + nudge:.3f} rad" for t in range(1, 31)]
        return "\n".join([f"reached {sign * 9 + nudge:.2f}", *rows])

    report = experiments.report_of([episode(1 - 2 * (n % 2), n / 1000) for n in range(6)])
    assert rows.of_every_episode(report, 10_000) == report
    text = rows.of_every_episode(report, 3500)
    assert text.count("(nearly the same in episodes 3, 5)") == 1
    assert text.count("(nearly the same in episodes 4, 6)") == 1
    for row in (*episode(1, 0.0).split("\n"), *episode(-1, 0.001).split("\n")):
        assert row in text
    assert "Episode 3:" not in text
    later = report.replace("Episode 3:", "Episode 8:").replace("Episode 5:", "Episode 9:")
    assert "Episode 1: (nearly the same in episodes 8, 9)" in rows.of_every_episode(later, 3500)
    assert rows.of_every_episode(text, 10_000) == text


@given(st.lists(st.floats(0.5, 5.0), min_size=2, max_size=6, unique=True))
def test_episodes_with_another_outcome_are_told_apart(ends: list[float]) -> None:
    """One figure of few is what an episode may have been played for."""
    ends = [round(end, 1) for end in ends]
    report = experiments.report_of([f"gain 2.0: it fell at 40\nit came as far as {end} m" for end in ends])
    text = rows.of_every_episode(report, len(report) - 1)
    alike = any(abs(a - b) <= max(0.101, 0.1 * max(a, b)) for n, a in enumerate(ends) for b in ends[n + 1 :])
    assert alike or "nearly the same" not in text


def test_how_episodes_ended_is_told_whatever_a_report_says() -> None:
    """An author who expected nobody to fall reports no falls."""
    fell = Experiment("p0.1", SOURCE, "all went well", episodes=3, steps=471, ends=(119, 40))
    assert (
        "p0.1 (3 episodes, 471 steps; 2 ended by termination, after 40 to 119 steps)"
        in experiments.section([fell], 900)
    )
    once = Experiment("p0.1", SOURCE, "all went well", episodes=2, steps=471, ends=(119,))
    assert "471 steps; 1 ended by termination, after 119 steps)" in experiments.section([once], 900)


def test_a_row_is_whole_or_left_out() -> None:
    """What it was for may stand at its end."""
    rows_ = [f"t={t}: angle {t}.25, speed {t}.5, and it earned {t}.125 for that" for t in range(40)]
    for most in range(120, 1500, 37):
        told = rows.rows_in(rows_, most).split("\n")
        assert [row for row in told if row not in rows_] == [told[-1]]
        assert told[-1].endswith(("more rows)", "more rows between them)"))


def test_short_episodes_are_not_dropped_for_a_little_room() -> None:
    """Ten that take a line each lose at most a few words of one."""
    report = experiments.report_of([f"gain {n}: fell after {n}{n} steps to the left" for n in range(10)])
    text = rows.of_every_episode(report, len(report) - 20)
    assert len(text) <= len(report) - 20
    assert all(f"Episode {n}:" in text for n in range(1, 11))


def test_long_reports_are_shortened_quickly() -> None:
    """Thousands of rows are no matter of seconds."""
    long = "\n".join(f"{n}" for n in range(4000))
    begun = time.process_time()
    assert len(rows.rows_in(long.split("\n"), 3000)) <= 3000
    assert time.process_time() - begun < 2
