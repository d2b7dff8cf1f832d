"""Steps of an episode as a table."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.prompts.columns import missing
from promptpo.prompts.limits import COLUMNS, IN_A_ROW, SECTIONS, SPREAD
from promptpo.prompts.step_table import cell, pictures, render_steps, select_steps
from promptpo_sandbox import Episode, Trajectory


def episode(observations: Any, actions: Any, rewards: Any, *, terminated: bool = False, **more: Any) -> Any:
    """A recorded episode."""
    seen = Trajectory(observations, actions, rewards, **more)
    return Episode(0, sum(rewards), len(rewards), terminated, not terminated, None, 0, 0.0, seen, None)


def walk(n: int, *, terminated: bool = False, size: int = 2, **more: Any) -> Any:
    """Observations that count steps."""
    return episode(
        [np.arange(size) + t for t in range(n + 1)],
        [t % 2 for t in range(n)],
        [1.0] * n,
        terminated=terminated,
        **more,
    )


def steps_in(text: str) -> list[int]:
    """The first column."""
    return [int(line.split("|")[0]) for line in text.splitlines()[1:] if "|" in line]


@given(n=st.integers(1, 400), terminated=st.booleans())
def test_the_first_and_the_last_step_are_told_and_some_in_a_row(n: int, terminated: bool) -> None:
    """Whatever the length; in a row so that what repeats itself does not look as if it stood still."""
    told = steps_in(render_steps(walk(n, terminated=terminated), {}))
    assert told == sorted(set(told))
    assert {0, n - 1, n} <= set(told)  # what was seen after the last step as well
    assert len(told) <= SPREAD + IN_A_ROW + 1
    together = max(sum(set(range(t, t + IN_A_ROW)) <= set(told) for t in told), 0)
    assert together or n < IN_A_ROW
    if terminated:
        assert set(range(max(0, n - IN_A_ROW), n)) <= set(told)


def test_columns_have_names_and_say_something() -> None:
    """Constant ones are left out but for actions; a name that observation and action share is told apart."""
    one = episode(
        [np.array([t, 5.0]) for t in range(4)], [0, 0, 0], [0.0, 0.5, 1.0], debug=[{"mode": m} for m in "abb"]
    )
    lines = render_steps(one, {"obs[0]": "place", "obs[1]": "weight", "action": "place"}).splitlines()
    assert lines[0] == "step|place|debug.mode|action.place|reward"
    assert lines[1:] == ["0|0|a|0|0", "1|1|b|0|0.5", "2|2|b|0|1", "3|3|||"]


@given(data=st.data(), size=st.integers(2, 30), where=st.sampled_from(["array", "entry", "slice", "action"]))
def test_a_vector_of_flags_is_one_column(data: st.DataObject, size: int, where: str) -> None:
    """Alone, beside other numbers and among actions; numbers that are no flags keep a column each."""
    rows = data.draw(
        st.lists(st.lists(st.integers(0, 1), min_size=size, max_size=size), min_size=4, max_size=4)
    )
    rows[1] = [1 - flag for flag in rows[0]]  # so that every one moves
    flags, places = [np.array(row) for row in rows], [np.array([t, 0.5 * t]) for t in range(4)]
    table = {
        "array": (flags, [0] * 3, {}, "obs"),
        "entry": ([{"on": f, "place": p} for f, p in zip(flags, places, strict=True)], [0] * 3, {}, "on"),
        "slice": (
            [np.concatenate(pair) for pair in zip(places, flags, strict=True)],
            [0] * 3,
            {f"obs[2:{size + 2}]": "doors"},
            "doors",
        ),
        "action": (places, flags[:3], {}, "action"),
    }
    observations, actions, names, column = table[where]
    lines = render_steps(episode(observations, actions, [0.0, 1.0, 2.0]), names).splitlines()
    heads = lines[0].split("|")
    assert [line.split("|")[heads.index(column)] for line in lines[1:4]] == [
        "".join(map(str, row)) for row in rows[:3]
    ]
    assert len(heads) == 4 if where == "array" else len(heads) in {5, 6}


def test_there_are_only_so_many_columns_and_characters() -> None:
    """Of long rows those that are spread over the episode go first, never the last ones."""
    assert len(render_steps(walk(100, size=30), {}).splitlines()[0].split("|")) == COLUMNS + 1
    long = walk(100, terminated=True, size=12)
    named = {f"obs[{n}]": "a long name of a number " * 2 for n in range(12)}
    text = render_steps(long, {label: f"{name}{label}" for label, name in named.items()})
    assert steps_in(text)[-IN_A_ROW - 1 :] == [*range(94, 100), 100]
    assert len(text) <= SECTIONS["steps"] + 400


def test_what_is_no_number_is_told_as_it_is() -> None:
    """NaN and infinity have names of their own."""
    one = episode([np.array([v]) for v in (1.0, np.nan, np.inf)], [0, 0], [0.0, np.nan])
    assert render_steps(one, {}).splitlines()[1:] == ["0|1|0|0", "1|NaN|0|NaN", "2|inf||"]


def test_numbers_that_were_missing_are_told_by_name() -> None:
    """Of all recorded episodes: how often, and from which step on."""
    seen = [{"pole": np.array([1.0, v]), "text": "a"} for v in (0.5, np.nan, np.nan)]
    one = episode(seen, [0, 0], [0.0, 1.0])
    said = missing([one, one, walk(3)], {"obs['pole'][1]": "lean"})
    assert said == "NaN in observations (10 in all): lean in 4, at step 1 first."
    assert missing([walk(3)], {}) == ""


def test_nothing_is_told_of_what_is_not_recorded() -> None:
    """Neither of no episode."""
    assert render_steps(episode([], [], []), {}) == ""


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (-0.0, "0"), (1e-7, "0"), (0.12345, "0.123"), (1234567.0, "1234567")]
)
def test_cells_are_short(value: float, text: str) -> None:
    """Codes exactly, the rest with three digits."""
    assert cell(value) == text


def test_pictures_are_told_by_rows() -> None:
    """A grid of objects keeps its shape; large ones are left out."""
    grid = np.array([[1, 2], [3, 4]])
    assert pictures({"image": grid, "direction": 1}, "obs", {}) == [
        "image, one line per first index:",
        "1 2",
        "3 4",
    ]
    assert pictures(np.zeros((84, 84, 3), np.uint8), "obs", {}) == []


def test_the_steps_in_a_row_stand_where_the_reward_changes() -> None:
    """A policy that rests from step 40 on is shown as it comes to rest; one that falls, as it falls."""
    rewards = [0.0] * 40 + [1.0] * 460
    assert {38, 39, 40, 41} <= set(select_steps(rewards, ended=False))
    assert set(range(494, 500)) <= set(select_steps(rewards, ended=True))
    assert select_steps([1.0], ended=False) == [0]
