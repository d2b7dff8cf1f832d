"""The steps of an episode where it hurts."""

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from promptpo.telling.tables import cell, cells
from promptpo.telling.trace import course, event, of_debug, overview, settled_from, shorter, trace, usual

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import Attempt, Candidate, Diagnosis
from promptpo.search.history import History
from promptpo.telling.feedback import extremes
from promptpo.telling.scores import steps_earned
from sandbox import Episode, Trajectory

NAMES = {"obs[0]": "height", "action": "push"}


def episode(rewards: Any, *, terminated: bool = False, observations: Any = None) -> Any:
    """A recorded episode."""
    n = len(rewards)
    observations = observations or [np.array([t / 10, -1.0]) for t in range(n + 1)]
    trajectory = Trajectory(observations, [t % 2 for t in range(n)], list(rewards))
    return Episode(0, float(sum(rewards)), n, terminated, not terminated, None, 0, 0.0, trajectory, None)


@pytest.mark.parametrize(
    ("rewards", "terminated", "at"),
    [
        ([1.0] * 200, True, 199),  # a fall at the end
        ([1.0] * 200, False, 199),  # nothing happens
        ([1.0] * 120 + [-50.0] + [1.0] * 79, False, 120),  # one costly step
        ([0.0] * 50 + [10.0] + [0.0] * 149, False, 199),  # after a bonus nothing is lost
        ([1.0] * 100 + [-100.0], True, 100),  # the last step costs
    ],
)
def test_the_event_is_the_largest_loss_or_the_end(rewards: Any, terminated: bool, at: int) -> None:
    """A step that costs, or where the episode ended."""
    assert event(rewards, terminated=terminated)[0] == at


def test_a_lasting_fall_is_found_in_noise() -> None:
    """A robot that runs, dives and recovers: the steps around the dive, not the last ones."""
    rng = np.random.default_rng(0)
    rewards = rng.normal(2.4, 0.5, 1000)
    rewards[500:560] -= 3.0
    at, what = event(rewards.tolist(), terminated=False)
    assert 490 <= at <= 510
    assert "reward fell most" in what


def test_a_trace_has_names_and_twenty_steps() -> None:
    """Columns are called what the spec calls them; one that never changes is left out."""
    text = trace(episode([1.0] * 90, terminated=True), NAMES)
    lines = text.splitlines()
    assert lines[0] == "Steps 70 to 89, up to where the episode was terminated:"
    assert lines[1] == "step|height|push|reward"
    assert lines[2] == "70|7|0|1"
    assert lines[-1] == "90 (seen last)|9||", "what ended it is seen after the final step"
    assert len(lines) == 23
    assert "seen last" not in trace(episode([1.0] * 90), NAMES)


def test_a_trace_has_a_short_form() -> None:
    """The rows nearest to the event, and a heading that says which they are."""
    short = shorter(trace(episode([1.0] * 90, terminated=True), NAMES)).splitlines()
    assert short[0] == "Steps 80 to 89, up to where the episode was terminated:"
    assert (len(short), short[2][:3], short[-2][:3]) == (13, "80|", "89|")
    assert short[-1].startswith("90 (seen last)|")
    two = trace(episode([1.0, 2.0]), NAMES)
    assert shorter(two) == two


def test_what_a_policy_kept_outlives_the_other_columns() -> None:
    """In the last steps, beside two of them, the action and the reward; of a policy that keeps nothing the steps alone."""
    n = 40
    seen = [np.array([0.1 * t, 2.0 - t, t * t, -t * 0.3]) for t in range(n + 1)]
    kept = tuple({"mode": "swing" if t % 2 else "push"} for t in range(n))
    plain = episode([1.0] * n, terminated=True, observations=seen)
    assert len(of_debug(trace(plain, NAMES)).splitlines()) == 8
    with_debug = replace(plain, trajectory=replace(plain.trajectory, debug=kept))
    told = of_debug(trace(with_debug, NAMES)).splitlines()
    assert told[0] == "Steps 35 to 39, up to where the episode was terminated:"
    assert told[1] == "step|height|obs[1]|debug.mode|push|reward"
    assert told[-2:] == ["39|3.9|-37|swing|1|1", "40 (seen last)|4|-38|||"]
    assert len(told) == 8


def test_what_led_to_a_loss_is_what_is_kept_of_it() -> None:
    """In ten rows and in five: the steps before reward fell, that step and the next one, not the calm after it."""
    n = 200
    seen = [np.array([0.1 * t, -1.0]) for t in range(n + 1)]
    kept = tuple({"mode": t} for t in range(n))
    fallen = episode([1.0] * 120 + [-50.0] + [1.0] * 79, observations=seen)
    fallen = replace(fallen, trajectory=replace(fallen.trajectory, debug=kept))
    told = shorter(trace(fallen, NAMES)).splitlines()
    assert told[0] == "Steps 112 to 121, around step 120, where reward fell most:"
    assert [row.partition("|")[0] for row in told[2:]] == [str(t) for t in range(112, 122)]
    least = of_debug(trace(fallen, NAMES)).splitlines()
    assert least[0] == "Steps 117 to 121, around step 120, where reward fell most:"
    assert least[-2].endswith("|-50")


def test_what_ends_a_long_episode_is_shown_from_long_before() -> None:
    """Rows from the first step on, closer in the last hundred steps, and closest in the last ones."""
    seen = [np.array([float(t), -1.0]) for t in range(301)]
    rows = trace(episode([1.0] * 300, terminated=True, observations=seen), NAMES).splitlines()
    assert rows[0] == "Steps 0 to 299, up to where the episode was terminated:"
    assert [int(re.split(r"\D", row)[0]) for row in rows[2:]] == [
        *range(0, 200, 40),
        *range(200, 280, 10),
        *range(280, 297, 4),
        *range(297, 301),
    ]
    text = "\n".join(rows)
    assert len(shorter(text).splitlines()) == 13
    least = [int(re.split(r"\D", row)[0]) for row in of_debug(text).splitlines()[2:]]
    assert least == [260, 280, 288, 296, 299, 300], "how it came to its end, not the end alone"


def test_entries_of_large_arrays_are_left_out() -> None:
    """Eight of a hundred cells say nothing; the numbers beside them do."""
    observations = [{"board": np.full((10, 10), t), "row": t} for t in range(6)]
    text = trace(episode([1.0] * 5, observations=observations), {"obs['row']": "row"})
    assert text.splitlines()[1] == "step|row|action|reward"


def test_steps_that_repeat_are_one_row() -> None:
    """Who stands still needs no twenty rows."""
    still = [np.array([0.5, 1.0])] * 31
    data = episode([0.0] * 30, observations=still)
    data.trajectory.actions[:] = [0] * 30
    assert trace(data, {}).splitlines()[2:] == ["10|0|0 (and the next 19)"]


@pytest.mark.parametrize(
    "observation", ["a mission", {"image": np.zeros((2, 2)), "mission": "go"}, 3, (1, 2.5)]
)
def test_any_observation_has_a_trace(observation: Any) -> None:
    """Texts, dictionaries, tuples and numbers."""
    text = trace(episode([1.0, 2.0], observations=[observation] * 3), {})
    assert text.splitlines()[-1].endswith("2")


@pytest.mark.parametrize(
    ("value", "text"),
    [(412, "412"), (-3.0, "-3"), (0.4567, "0.46"), (3e-7, "0"), (float("nan"), "NaN"), (1e30, "1e+30")],
)
def test_codes_are_told_exactly(value: Any, text: str) -> None:
    """The number of a state must not be rounded; measurements may be."""
    assert cell(value) == text


def test_an_episode_without_a_trajectory_has_none() -> None:
    """What was not recorded cannot be shown."""
    assert trace(Episode(0, 1.0, 5, True, False, None, 0, 0.0, None, None), {}) == ""


def test_what_a_policy_keeps_stands_in_the_table() -> None:
    """Numbers and words, a column each; a bar in a word cannot open another cell."""
    debug = [{"mode": "a|b", "gap": 0.5} if t else {} for t in range(3)]
    trajectory = Trajectory([np.array([t / 10]) for t in range(4)], [0, 1, 0], [1.0, 0.0, 2.0], debug)
    told = trace(Episode(0, 3.0, 3, True, False, None, 0, 0.0, trajectory, None), {})
    rows = told.splitlines()
    assert "debug.mode|debug.gap" in rows[1]
    assert "|a/b|0.5|" in rows[3]
    assert {row.count("|") for row in rows[1:]} == {rows[1].count("|")}


@pytest.mark.parametrize(("n", "terminated"), [(70, True), (200, False)])
def test_the_beginning_of_an_episode_is_told_in_a_few_rows(n: int, terminated: bool) -> None:
    """Forty steps in some eight rows, by what went somewhere rather than to and fro."""
    observations = [np.array([0.01 * t, (-1) ** (t // 4) * (1 + t / n), 3.0]) for t in range(n + 1)]
    trajectory = Trajectory(observations, [t % 2 for t in range(n)], [0.1 * t for t in range(n)])
    told = course(
        Episode(0, 1.0, n, terminated, False, None, 0, 0.0, trajectory, None),
        {"obs[0]": "height", "obs[1]": "sway"},
    )
    rows = told.splitlines()
    assert rows[0] == f"How it began (start of {n} steps):"
    assert rows[1].split("|")[:2] == ["step", "height"]
    assert "obs[2]" not in rows[1]
    assert 7 <= len(rows) - 2 <= 10
    assert rows[-1].startswith("39|0.39|")


def test_of_a_long_episode_that_ended_the_end_is_told() -> None:
    """From its first step on, each row half as far from the end as the one before."""
    rows = course(episode([1.0] * 215, terminated=True), NAMES).splitlines()
    assert rows[0] == "How it came to its end (of 215 steps):"
    assert [int(row.partition("|")[0]) for row in rows[2:-1]] == [0, 107, 161, 188, 201, 208]
    assert rows[-1].startswith("215 (seen last)|")
    assert rows[-2].endswith("(the same at 214)")


def test_a_failed_first_step_has_a_beginning_too() -> None:
    """One row; without a recorded step there is none."""
    one = Trajectory([np.zeros(1), np.ones(1)], [0], [1.0])
    assert len(course(Episode(0, 1.0, 1, True, False, None, 0, 0.0, one, None), {}).splitlines()) == 4
    none = Trajectory([np.zeros(1)], [], [])
    assert course(Episode(0, 0.0, 0, False, False, None, 0, 0.0, none, None), {}) == ""


def test_an_episode_that_ends_well_is_shown_where_it_cost() -> None:
    """Three poor steps and then nothing more to gain: the end would show nothing."""
    told = trace(episode([-1.0] * 3 + [0.0] * 47, terminated=False), {})
    assert told.splitlines()[0] == "Steps 0 to 19, where least was earned (from step 0 on):"
    short = shorter(told)
    assert short.splitlines()[0] == "Steps 0 on, where least was earned:"
    assert (short.splitlines()[2][:2], short.splitlines()[-1][:2]) == ("0|", "9|")
    assert "|-0" not in told.replace("|-0.", "|")


def test_texts_beside_numbers_are_columns_too() -> None:
    """What an observation says in words is what a policy acts on; one that never changes says nothing."""
    observations = [{"word": f"go|{n}", "left": 9 - n, "task": "walk"} for n in range(4)]
    rows = trace(episode([1.0, 0.0, 2.0], observations=observations), {"obs['word']": "command"}).splitlines()
    assert rows[1] in {"step|left|command|action|reward", "step|command|left|action|reward"}
    assert "go/1" in rows[3]
    assert "walk" not in "".join(rows)


def test_the_range_of_single_rewards_is_known() -> None:
    """Of all recorded steps; what is no number says nothing."""
    assert extremes([episode([-1.0, -3.0]), episode([2.0, float("nan")])]) == (-3.0, 2.0)
    assert extremes([]) == ()


def test_the_range_of_single_rewards_is_that_of_all_programs() -> None:
    """The least and the most, of episodes of tuning too; programs of which it is not known are left out."""

    def attempt(n: int, rewards: tuple[float, ...]) -> Attempt:
        evaluation = Evaluation("ok", (EpisodeRecord(1, -10.0, 10),), 10)
        return Attempt(Candidate(f"r1c{n}", "", 1), evaluation, diagnosis=Diagnosis(rewards=rewards))

    past = History([attempt(1, (-10.0, -1.0)), attempt(2, ()), attempt(3, (-2.0, -1.0))])
    assert steps_earned(past) == (-10.0, -1.0)
    assert steps_earned(History([attempt(1, ())])) == ()
    past.earned = (-1.0, 1000.0)
    assert steps_earned(past) == (-10.0, 1000.0)


def fall(n: int = 200) -> Any:
    """A body that topples while its legs go to and fro: many columns, the trunk's last but one."""
    rows = []
    for t in range(n + 1):
        legs = [float(np.sin(t * (k + 1))) for k in range(9)]
        lean = 0.0 if t < n - 20 else 0.05 * (t - n + 20)
        rows.append(np.array([*legs, lean, *(rows[-1][:3] if rows else [0.0] * 3)]))
    return episode([1.0] * n, terminated=True, observations=rows)


def test_a_trace_shows_what_explains_a_fall() -> None:
    """The trunk's angle is shown by its name, or because it went furthest; what repeats a column a step later is not."""
    names = {f"obs[{k}]": f"leg_{k}" for k in range(9)} | {"obs[9]": "trunk", "obs[10:13]": "previous"}
    for posture in ((), ("trunk",)):
        heading = trace(fall(), names, posture).splitlines()[1].split("|")
        assert "trunk" in heading
        assert not any(name.startswith("previous") for name in heading)
        assert "trunk" in course(fall(), names, posture).splitlines()[1]
    assert "leg_8" in trace(fall(), names, ("leg_8",)).splitlines()[1]


@pytest.mark.parametrize("stride", [4.5, 5, 6.3])
def test_of_a_quick_gait_two_strides_are_told_step_by_step(stride: float) -> None:
    """Every second of five steps would show another gait than there is."""
    gait = [
        np.array([np.sin(2 * np.pi * t / stride), np.cos(2 * np.pi * t / stride), t / 10]) for t in range(101)
    ]
    text = usual(episode([1.0] * 100, observations=gait), NAMES)
    steps = [int(row.partition("|")[0]) for row in text.splitlines()[2:]]
    assert text.startswith("Steps ")
    assert steps == list(range(steps[0], steps[0] + len(steps)))
    assert 2 * stride - 1 <= len(steps) <= 2 * stride + 2
    assert abs(steps[0] + steps[-1] - 100) < 4
    few = [int(row.partition("|")[0]) for row in shorter(text).splitlines()[2:]]
    assert few == list(range(few[0], few[0] + len(few)))


@pytest.mark.parametrize("stride", [4, 5, 10, 20])
def test_rows_before_a_fall_are_no_whole_strides_apart(stride: float) -> None:
    """Else a gait looks as if nothing moved until the fall."""
    gait = [np.array([np.sin(2 * np.pi * t / stride), t / 10]) for t in range(401)]
    told = trace(episode([1.0] * 400, terminated=True, observations=gait), NAMES)
    steps = [int(re.split(r"\D", row)[0]) for row in told.splitlines()[2:]]
    far = [b - a for a, b in itertools.pairwise([t for t in steps if 300 <= t < 380])]
    assert far
    assert all(min(apart % stride, -apart % stride) >= 0.15 * stride for apart in far)


def test_what_is_paid_for_is_a_column_of_every_table() -> None:
    """A speed that goes with the reward, though limbs move further and keep less of their way."""
    rng = np.random.default_rng(0)
    speed = rng.normal(2.0, 0.3, 201)
    limbs = [[np.sin(t / (3 + n)) * 9 + t / 90 for n in range(9)] for t in range(201)]
    seen = [np.array([*limbs[t], speed[t]]) for t in range(201)]
    rewards = [*(float(speed[t + 1] - 0.1) for t in range(199)), -100.0]
    names = {f"obs[{n}]": f"limb_{n}" for n in range(9)} | {"obs[9]": "speed"}
    data = episode(rewards, observations=seen, terminated=True)
    tables = [trace(data, names), usual(data, names), shorter(trace(data, names)), course(data, names)]
    tables += [of_debug(trace(data, names))]
    for told in tables:
        assert told.splitlines()[1].startswith("step|speed|")
    flat = episode([1.0] * 200, observations=seen)
    assert not usual(flat, names).splitlines()[1].startswith("step|speed|")


def test_the_usual_steps_are_from_the_middle() -> None:
    """Of a slow gait four in a row, and eleven some way apart; short episodes have none, since they are shown whole."""
    walk = [np.array([np.sin(t / 3), np.cos(t / 3), t / 10]) for t in range(101)]
    rows = usual(episode([1.0] * 100, observations=walk), NAMES).splitlines()
    assert rows[0] == "Steps 48 to 51, in its middle:"
    assert rows[6] == ""
    assert rows[7].startswith("Every 3rd of steps 3")
    assert len(rows) == 20
    slow = [np.array([np.sin(t / 8), np.cos(t / 8) + 0.3 * (-1) ** t, t / 10, (-1) ** t]) for t in range(401)]
    text = usual(episode([1.0] * 400, observations=slow), NAMES)
    rows = text.partition("\n\n")[2].splitlines()
    assert shorter(text).splitlines() == rows
    heights = [float(row.split("|")[1]) for row in rows[2:]]
    assert max(heights) - min(heights) > 1.5, "one stride at least"
    assert usual(episode([1.0] * 9), NAMES) == ""


def test_of_an_episode_that_comes_to_rest_the_way_there_is_shown() -> None:
    """Steps that earn the most there is teach nothing; a way back from there, or a gait, is no rest."""
    way = [t / 4 for t in range(40)]
    text = usual(episode([*way, *[10.0] * 300, 9.9, *[10.0] * 59]), NAMES)
    head, _, *rows = text.splitlines()
    assert head == "Steps 0 to 38, evenly spread; from there on all earn about the most:"
    assert (rows[0].split("|")[0], rows[-1].split("|")[0]) == ("0", "38")
    assert settled_from([*way, *[10.0] * 100, 0.0, *[10.0] * 10]) is None
    assert settled_from([1.0] * 100) is None
    assert settled_from([0.5, 1.0] * 100) is None
    assert settled_from(way) is None


def test_of_what_goes_on_the_usual_steps_are_spread_over_the_episode() -> None:
    """Ten steps in a row of a way to somewhere are nearly the same."""
    rows = usual(episode([1.0] * 100), NAMES).splitlines()
    assert rows[0] == "Steps 0 to 99, evenly spread:"
    assert [int(row.partition("|")[0]) for row in rows[2:]] == list(range(0, 100, 11))


def test_rows_that_lie_apart_name_the_steps_that_they_stand_for() -> None:
    """The next row of a table is not the next step."""
    still = [np.array([0.5, 1.0])] * 201
    data = episode([0.0] * 200, terminated=True, observations=still)
    data.trajectory.actions[:] = [0] * 200
    rows = course(data, {}).splitlines()
    assert rows[2:] == ["0|0|0 (the same at 100, 150, 175, 187, 193, 199)"]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1.142, 1.138, 1.129, 1.115], ["1.142", "1.138", "1.129", "1.115"]),  # 1.1 in two digits
        ([1.141, 1.02, 0.81], ["1.14", "1.02", "0.81"]),
        ([-3.12, -3.36, float("nan")], ["-3.12", "-3.36", "NaN"]),
        ([1234.5, 1229.0], ["1234.5", "1229.0"]),
        ([0.4567, -0.02345], ["0.46", "-0.023"]),  # two digits show it
        ([9.51, 2.4], ["9.5", "2.4"]),
        ([0.500001, 0.500003], ["0.5", "0.5"]),  # next to nothing
        ([412, 413], ["412", "413"]),
        ([1e30, 2e30], ["1e+30", "2e+30"]),
        ([], []),
    ],
)
def test_a_column_has_the_digits_that_show_its_change(values: Any, told: Any) -> None:
    """As many as its range needs, and no more."""
    assert cells(values) == told


def test_what_moves_within_two_digits_has_a_column() -> None:
    """A height that sinks by two centimetres is why the next step is a fall."""
    seen = [np.array([1.14 - 0.002 * t, -1.0]) for t in range(11)]
    rows = trace(episode([1.0] * 10, terminated=True, observations=seen), NAMES).splitlines()
    assert rows[1].split("|")[1] == "height"
    assert [row.split("|")[1] for row in rows[2:5]] == ["1.140", "1.138", "1.136"]


def test_an_action_that_is_called_like_an_observation_has_a_column_of_its_own() -> None:
    """Neither hides the other."""
    rows = trace(episode([1.0, 0.0, 2.0]), {"obs[0]": "x", "action": "x"}).splitlines()
    assert rows[1] == "step|x|action.x|reward"
    assert rows[3] == "1|0.1|1|0"


def test_an_overview_shows_first_and_last_steps() -> None:
    """A few evenly spread steps, the last one included; what only counts the steps comes last, if there is room."""
    seen = [{"clock": t, "x": np.array([np.cos((k + 1) * t) for k in range(9)])} for t in range(31)]
    rows = overview(episode([0.4] * 30, observations=seen), {"obs['x']": "height"}).splitlines()
    assert "clock" not in rows[0]
    assert rows[0].count("height[") == 8
    assert rows[1].startswith("0|1|1|")
    assert rows[-1].startswith("29|")
    assert len(rows) == 10
    assert overview(episode([]), {}) == ""
    assert overview(episode([2.0], terminated=True), {}).splitlines()[-1].endswith("|2")
    assert trace(episode([2.0], terminated=True), {}).splitlines()[2].endswith("|2")


def test_what_ended_an_episode_is_shown_where_it_cost_most_before() -> None:
    """Both are there, in the short form as well: the loss, and the last steps with what was seen after them."""
    rewards = [1.0] * 120 + [-50.0] + [1.0] * 79
    fallen = episode(rewards, terminated=True, observations=[np.array([0.1 * t, -1.0]) for t in range(201)])
    for text in (trace(fallen, NAMES), shorter(trace(fallen, NAMES)), of_debug(trace(fallen, NAMES))):
        assert text.splitlines()[-2].startswith("199|")
        assert text.splitlines()[-1].startswith("200 (seen last)|20|")
    for text in (trace(fallen, NAMES), shorter(trace(fallen, NAMES))):
        assert "around step 120, where reward fell most" in text.splitlines()[0]
        assert "|-50" in text
        assert len(text.splitlines()) <= 23
