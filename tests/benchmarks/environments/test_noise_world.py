"""NoiseWorld: boards, probabilities and the exact optimum."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo_benchmarks.environments.noise_world.board import (
    BOARDS,
    GOAL,
    MOVES,
    PIT,
    TRAP,
    WALL,
    NoiseBoard,
    State,
    board,
    draw,
)
from promptpo_benchmarks.environments.noise_world.optimum import number_of, optimal_return, solve

NUMBERS = range(len(BOARDS))


def corridor(milestones: Any = (), misfortune: Any = None, codes: Any = (0, 0, 0)) -> Any:
    """Return a board of three rows whose middle row leads from the left to the goal on the right."""
    grid = np.full((3, 3), WALL)
    grid[1] = codes
    grid[1, 2] = GOAL
    return NoiseBoard(grid, misfortune or {}, (1, 0), (1, 2), milestones)


def test_boards_are_reproducible() -> None:
    first, second = draw(BOARDS[4]), draw(BOARDS[4])
    assert np.array_equal(first.codes, second.codes)
    assert (first.start, first.goal, first.milestones) == (second.start, second.goal, second.milestones)
    assert first.misfortune == second.misfortune


@pytest.mark.parametrize("number", NUMBERS)
def test_boards_have_goals_walls_pits_and_milestones(number: Any) -> None:
    """One goal everywhere, one wall and one pit on large boards, milestones on the last three."""
    codes = board(number).codes
    large = number > 0
    assert codes.shape == ((10, 10) if large else (5, 5))
    counts = {code: int((codes == code).sum()) for code in (WALL, PIT, GOAL, 6, 7)}
    last = number >= 4
    assert counts == {WALL: large, PIT: large, GOAL: 1, 6: last, 7: last}
    assert set(np.unique(codes[codes < WALL])) == {0, 1, 2}


@given(st.sampled_from(list(NUMBERS)), st.integers(0, 99), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_transitions_are_distributions_outside_the_wall(number: Any, cell: Any, action: Any) -> None:
    """Every cell and action is checked."""
    this = board(number)
    row, column = divmod(cell % this.size**2, this.size)
    results = this.transitions(State((row, column)), action)
    assert sum(result.probability for result in results) == pytest.approx(1)
    for result in results:
        assert this.codes[result.state.cell] != WALL or result.state.cell == (row, column)


def test_optimum_of_a_steady_corridor() -> None:
    """Two steps at -1 and a bonus of 3^3."""
    assert solve(corridor()).value == pytest.approx(27 - 2)


def test_optimum_of_a_slippery_start_is_geometric() -> None:
    """With probability p of staying, the first step takes 1/(1-p) attempts; the horizon of 9 steps cuts off few."""
    p = 0.5
    value = solve(corridor(misfortune={1: p}, codes=(1, 0, 0))).value
    by_hand = sum((1 - p) * p**k * (27 - (k + 2)) for k in range(8)) + p**8 * -9
    assert value == pytest.approx(by_hand)


def test_goal_gives_its_bonus_only_after_all_milestones() -> None:
    """Their order matters; a milestone behind the goal requires a way back."""
    assert solve(corridor(milestones=((1, 1),))).value == pytest.approx(27 - 2)
    there_and_back = corridor(milestones=((1, 1), (1, 0)))
    assert solve(there_and_back).value == pytest.approx(27 - 4)
    assert there_and_back.transitions(State((1, 1), 1), 1)[0].reward == -1.0


def test_trap_returns_to_the_start_and_keeps_milestones() -> None:
    this = corridor(milestones=((1, 1),), misfortune={TRAP: 0.3}, codes=(0, TRAP, 0))
    failed = this.transitions(State((1, 1), 1), 1)[1]
    assert failed.state == State((1, 0), 1)
    assert failed.probability == pytest.approx(0.3)


@pytest.mark.parametrize("number", NUMBERS)
def test_boards_can_be_solved(number: Any) -> None:
    """The bonus is within reach on every board."""
    assert 0.3 * board(number).size ** 3 < optimal_return(number) < board(number).size ** 3


@pytest.mark.parametrize("number", [0, 4])
def test_optimal_policy_returns_its_value(number: Any) -> None:
    """Within four standard errors."""
    this, best = board(number), solve(board(number))
    env = gymnasium.make(f"promptpo/NoiseWorld-{number}-v0")
    world: Any = env.unwrapped
    returns = []
    for seed in range(300):
        env.reset(seed=seed)
        total, over, t = 0.0, False, 0
        while not over:
            action = best.actions[t, number_of(world.state, this.size)]
            _, reward, terminated, truncated, _ = env.step(action)
            total, over, t = total + float(reward), terminated or truncated, t + 1
        returns.append(total)
    error = np.std(returns) / np.sqrt(len(returns))
    assert abs(np.mean(returns) - best.value) < 4 * error + 1e-9


def test_seed_determines_the_episode() -> None:
    """Both episodes have the same actions."""

    def play(seed: int) -> Any:
        env = gymnasium.make("promptpo/NoiseWorld-2-v0")
        env.reset(seed=seed)
        return [env.step(np.int64(action))[0].tolist() for action in (0, 1, 2, 3) * 5]

    assert play(3) == play(3)


@pytest.mark.slow
def test_observation_and_spec_hide_the_kinds_of_ground() -> None:
    """They are only numbers, and milestones are not mentioned."""
    env = gymnasium.make("promptpo/NoiseWorld-4-v0")
    observation, info = env.reset(seed=0)
    assert observation.shape == (4 + 100,)
    assert info == {}
    assert not any(word in spec_with_milestones() for word in ("mileston", "slip", "trap", "reset"))


def spec_with_milestones() -> Any:
    """Return the spec of a board with milestones."""
    from promptpo.envs.task import Task
    from promptpo.spec.describe import describe

    return describe(Task("promptpo_benchmarks.environments:promptpo/NoiseWorld-4-v0")).text.lower()


def test_rendering() -> None:
    """An image, and a text that shows the walker."""
    env: Any = gymnasium.make("promptpo/NoiseWorld-0-v0", render_mode="ansi")
    env.reset(seed=0)
    assert env.render().count("@") == 1
    env = gymnasium.make("promptpo/NoiseWorld-0-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape == (120, 120, 3)


def test_unknown_board_is_refused() -> None:
    with pytest.raises(ValueError, match="boards 0 to 6"):
        board(7)
    assert len(MOVES) == 4
