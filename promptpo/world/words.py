"""What a world model is worth, in words: for prompts, for `promptpo show` and for the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.run.journal import to_json

if TYPE_CHECKING:
    from promptpo.world.scoring import Score

MOST_QUANTITIES = 30

OF_STUDIES = "w"
"""How ids of candidates begin that studies have found."""


def as_data(score: Score) -> dict[str, Any]:
    """A score as the journal keeps it."""
    return {**to_json(score), "usable": score.usable}


def in_words(data: Mapping[str, Any]) -> list[str]:
    """A recorded score in lines, the sum of it first."""
    if data["failure"]:
        return [f"worth 0: {data['failure']}"]
    verdict = "used" if data["usable"] else "not used: it knows too little"
    lines = [f"worth {data['worth']:.2f} of 1 on {data['transitions']:,} held-out steps ({verdict})"]
    for skill in data["skills"][:MOST_QUANTITIES]:
        what = "exact" if skill["discrete"] else "explained variance"
        shares = ", ".join(f"{share:.3g} at {ahead}" for ahead, share in skill["ahead"].items())
        lines.append(f"{skill['name']}: {what} {shares or 'unknown'} steps ahead")
    if len(data["skills"]) > MOST_QUANTITIES:
        lines.append(f"and {len(data['skills']) - MOST_QUANTITIES} quantities more")
    endings = "none happened" if data["endings"] is None else f"{data['endings']:.0%} foreseen"
    lines.append(
        f"reward: explained variance {data['reward']:.3g}; endings: {endings}, "
        f"{data['false_endings']:.1%} of the other steps taken for one"
    )
    return lines


def use_in_words(
    imagined: int,
    paid: int,
    searched: int,
    promises: Mapping[str, Mapping[str, Any]],
    best: Sequence[str] = (),
) -> str:
    """What models of a run were used for, and what they saved or cost, as one line.

    Args:
        imagined: Steps that were taken in them.
        paid: Steps of the environment that were taken for them alone.
        searched: All steps of the search.
        promises: What they promised of policies that were tried then, by candidate.
        best: The best candidate's id and those that it came from; none where nothing ran.
    """
    real = f"{paid:,} of the {searched:,} steps searched were taken for it"
    if not imagined:
        return f"used for tuning or planning: no; {real}"
    text = f"{imagined:,} steps in the model, which cost none of the environment; {real}"
    kept = sum(bool(one["kept"]) for one in promises.values())
    times = f"{len(promises)} time{'' if len(promises) == 1 else 's'}"
    verdict = f"yes, confirmed {kept} of {times}" if promises else "it promised nothing that was worth trying"
    text += f"; used for tuning or planning: {verdict}"
    found = any(one in promises or one.startswith(OF_STUDIES) for one in best)
    return f"{text}; the best {'comes' if found else 'does not come'} from it"
