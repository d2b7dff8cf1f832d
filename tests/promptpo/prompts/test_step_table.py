"""Steps of an episode as a table."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.prompts.columns import missing
from promptpo.prompts.limits import COLUMNS, DOUBLING, SECTIONS, SPREAD
from promptpo.prompts.step_table import cell, pictures, render_steps, select_steps
from promptpo_sandbox import Episode, Trajectory


def episode(observations: Any, actions: Any, rewards: Any, *, terminated: bool = False, **more: Any) -> Any:
    """Return a recorded episode."""
    trajectory = Trajectory(observations, actions, rewards, **more)
    return Episode(0, sum(rewards), len(rewards), terminated, not terminated, None, 0, 0.0, trajectory, None)


def walk(n: int, *, terminated: bool = False, size: int = 2, **more: Any) -> Any:
    """Return an episode whose observations count the steps."""
    return episode(
        [np.arange(size) + t for t in range(n + 1)],
        [t % 2 for t in range(n)],
        [1.0] * n,
        terminated=terminated,
        **more,
    )


def steps_in(text: str) -> list[int]:
    """Return the first column."""
    return [int(line.split("|")[0]) for line in text.splitlines()[1:] if "|" in line]


@given(n=st.integers(1, 400), terminated=st.booleans())
def test_table_has_first_and_last_steps_and_those_before_the_end(n: int, terminated: bool) -> None:
    """Before a termination, the distances double; three steps in a row show oscillations that a stride would hide."""
    steps = steps_in(render_steps(walk(n, terminated=terminated), {}))
    assert steps == sorted(set(steps))
    assert {0, n - 1, n} <= set(steps)  # n is the observation after the last step
    assert len(steps) <= SPREAD + DOUBLING + 3
    if terminated:
        assert {t for t in (n - 2, n - 3, n - 5, n - 9, n - 17, n - 33, n - 65) if t >= 0} <= set(steps)


def test_columns_are_named_and_not_constant() -> None:
    """Constant actions stay, other constants but 0 stand below, and a name shared by observation and action is disambiguated."""
    one = episode(
        [np.array([t, 5.0, 0.0]) for t in range(4)],
        [0, 0, 0],
        [0.0, 0.5, 1.0],
        debug=[{"mode": m} for m in "abb"],
    )
    lines = render_steps(one, {"obs[0]": "place", "obs[1]": "weight", "action": "place"}).splitlines()
    assert lines[0] == "step|place|debug.mode|action.place|reward"
    assert lines[1:] == ["0|0|a|0|0", "1|1|b|0|0.5", "2|2|b|0|1", "3|3|||", "constant: weight 5"]


@given(data=st.data(), size=st.integers(2, 30), where=st.sampled_from(["array", "entry", "slice", "action"]))
def test_vector_of_flags_is_one_column(data: st.DataObject, size: int, where: str) -> None:
    """Alone, beside other numbers and among actions; other vectors keep one column per number."""
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


def test_columns_and_characters_are_limited() -> None:
    """Spread-out steps are dropped first, the last ones never."""
    assert len(render_steps(walk(100, size=30), {}).splitlines()[0].split("|")) == COLUMNS + 1
    long = walk(100, terminated=True, size=12)
    named = {f"obs[{n}]": "a long name of a number " * 2 for n in range(12)}
    text = render_steps(long, {label: f"{name}{label}" for label, name in named.items()})
    assert steps_in(text)[-6:] == [91, 95, 97, 98, 99, 100]
    assert len(text) <= SECTIONS["steps"] + 400


def test_nan_and_infinity_are_shown() -> None:
    one = episode([np.array([v]) for v in (1.0, np.nan, np.inf)], [0, 0], [0.0, np.nan])
    assert render_steps(one, {}).splitlines()[1:] == ["0|1|0|0", "1|NaN|0|NaN", "2|inf||"]


def test_nan_in_observations_is_counted_by_name() -> None:
    """Over all recorded episodes, with the first step."""
    observations = [{"pole": np.array([1.0, v]), "text": "a"} for v in (0.5, np.nan, np.nan)]
    one = episode(observations, [0, 0], [0.0, 1.0])
    text = missing([one, one, walk(3)], {"obs['pole'][1]": "lean"})
    assert text == "NaN in observations (10 in all): lean in 4, at step 1 first."
    assert missing([walk(3)], {}) == ""


def test_empty_episode_has_no_table() -> None:
    assert render_steps(episode([], [], []), {}) == ""


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (-0.0, "0"), (1e-7, "0"), (0.12345, "0.123"), (1234567.0, "1234567")]
)
def test_numbers_have_three_digits_and_integers_all(value: float, text: str) -> None:
    assert cell(value) == text


def test_small_grids_are_printed_by_rows() -> None:
    """Large images are left out."""
    grid = np.array([[1, 2], [3, 4]])
    assert pictures({"image": grid, "direction": 1}, "obs", {}) == [
        "image, one line per first index:",
        "1 2",
        "3 4",
    ]
    assert pictures(np.zeros((84, 84, 3), np.uint8), "obs", {}) == []
    table = render_steps(episode([{"image": grid + t} for t in range(4)], [0] * 3, [0.0, 0.5, 1.0]), {})
    assert table.endswith("\nimage at step 3, one line per first index:\n4 5\n6 7")


def test_steps_are_dense_where_the_reward_changes() -> None:
    """On both sides; if the environment ended the episode, they are dense before its end."""
    rewards = [0.0] * 40 + [1.0] * 460
    assert {8, 32, 36, 38, 39, 40, 42, 48, 72} & set(select_steps(rewards, ended=False)) == {
        36,
        39,
        40,
        42,
        48,
        72,
    }
    assert {435, 467, 483, 491, 495, 497, 498, 499} <= set(select_steps(rewards, ended=True))
    assert select_steps([1.0], ended=False) == [0]
