"""Grids and cards: how an index decodes, and the map of this instance."""

from __future__ import annotations

from typing import Any

from promptpo.spec.known.base import Supplement, fields
from promptpo.spec.parts import ActionValue


def known(env: Any) -> Supplement | None:
    """What a toy-text environment's documentation leaves open."""
    name = type(env).__name__
    return {
        "FrozenLakeEnv": _frozen_lake,
        "TaxiEnv": _taxi,
        "CliffWalkingEnv": _cliff_walking,
        "BlackjackEnv": _blackjack,
    }.get(name, lambda _: None)(env)


def _frozen_lake(env: Any) -> Supplement:
    rows, columns = env.nrow, env.ncol
    grid = "\n".join(b"".join(row).decode() for row in env.desc)
    reward = ""
    schedule = getattr(env, "reward_schedule", None) or (
        env.spec.kwargs.get("reward_schedule") if env.spec else None
    )
    if schedule:
        goal, hole, frozen = schedule
        reward = f"Stepping onto the goal: {goal}. Into a hole: {hole}. Onto any other cell: {frozen}."
    slippery = env.spec.kwargs.get("is_slippery", True) if env.spec else True
    return Supplement(
        description=(
            "Cross a frozen lake from the start to the goal without falling into a hole. "
            + (
                "The ice is slippery: the player does not always move in the intended direction."
                if slippery
                else "The ice is not slippery: the player moves in the intended direction."
            )
        ),
        observation=fields(
            f"row = obs // {columns}; 0 .. {rows - 1}; 0 is the top row\n"
            f"column = obs % {columns}; 0 .. {columns - 1}; 0 is the left column"
        ),
        observation_note="MAP[row][column] is the cell that the player stands on.",
        blocks={"MAP": f"{grid}\n# S start, F frozen (safe), H hole, G goal"},
        reward_text=reward or "Stepping onto the goal: +1. Into a hole: 0. Onto any other cell: 0.",
        start="At S, the top left cell.",
        end="The player steps into a hole or onto the goal.",
    )


def _taxi(env: Any) -> Supplement:
    grid = "\n".join(row.tobytes().decode() for row in env.desc)
    stands = ", ".join(
        f"{n} {letter} ({r}, {c})" for n, (letter, (r, c)) in enumerate(zip("RGYB", env.locs, strict=True))
    )
    return Supplement(
        description=(
            "Drive a taxi in a 5x5 grid to the passenger, pick the passenger up, drive to the destination "
            "and drop the passenger off there."
        ),
        observation=fields(
            "taxi_row = obs // 100; 0 .. 4; 0 is the top (north) row\n"
            "taxi_column = obs // 20 % 5; 0 .. 4; 0 is the left (west) column\n"
            "passenger = obs // 4 % 5; 0 .. 4; the stand where the passenger waits, or 4: in the taxi\n"
            "destination = obs % 4; 0 .. 3; the stand to go to"
        ),
        observation_note=f"Stands, as number, letter on the map and (row, column): {stands}.",
        blocks={
            "MAP": f"{grid}\n# ':' between two cells is open, '|' is a wall; moves north and south are never blocked"
            "\n# inside the grid"
        },
        action_note="A move into a wall leaves the taxi where it is.",
        reward_text=(
            "-1 per step, also for a move into a wall. Dropping the passenger off at the destination: +20 "
            "instead. Picking up or dropping off where it is not allowed: -10 instead."
        ),
        end="The passenger is dropped off at the destination.",
    )


def _cliff_walking(env: Any) -> Supplement:
    rows, columns = env.shape
    cells = [["." for _ in range(columns)] for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            if env._cliff[row, column]:  # noqa: SLF001 - the map is stored nowhere else
                cells[row][column] = "C"
    cells[rows - 1][0], cells[rows - 1][columns - 1] = "S", "G"
    grid = "\n".join("".join(row) for row in cells)
    return Supplement(
        observation=fields(
            f"row = obs // {columns}; 0 .. {rows - 1}; 0 is the top row\n"
            f"column = obs % {columns}; 0 .. {columns - 1}; 0 is the left column"
        ),
        observation_note="The player is never seen on a cliff cell: stepping there puts it back to the start.",
        blocks={"MAP": f"{grid}\n# S start, G goal, C cliff"},
        start=f"At S, observation {(rows - 1) * columns}.",
        end=f"The player reaches G, observation {rows * columns - 1}.",
    )


def _blackjack(env: Any) -> Supplement:
    if env.sab:
        natural = "sticking with a natural (an ace and a ten at the start) wins unless the dealer has one too"
    elif env.natural:
        natural = "a win with a natural (an ace and a ten at the start) gives +1.5 instead"
    else:
        natural = "a win with a natural gives +1 as any other"
    return Supplement(
        observation=fields(
            "player_sum = obs[0]; 0 .. 31; at least 4; above 21 only after going bust\n"
            "dealer_card = obs[1]; 0 .. 10; the dealer's open card, 1 (an ace) to 10\n"
            "usable_ace = obs[2]; 0 .. 1; 1 when the player holds an ace that counts 11 without going bust"
        ),
        observation_note="",
        choices=(
            ActionValue("STICK", 0, "take no more cards: the dealer plays, and the hand is over"),
            ActionValue("HIT", 1, "take another card"),
        ),
        action_note="",
        hide_reward_code=True,
        reward_text=f"At the end of the hand: win +1, lose -1, tie 0; {natural}. Before: 0.",
        start="Two cards for the player, two for the dealer of which one is open; cards are drawn with replacement.",
        end="The player sticks, or hits and exceeds 21.",
        neutral={
            "stick": "stop",
            "hit": "draw",
            "card": "number",
            "hand": "round",
            "natural": "best start",
            "ten": "top number",
            "11": "high",
            "21": "the limit",
        },
    )
