"""Looking at rollouts: what the observation shows of places, targets and modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.search.programs.places import aligned, find_place, solid_in
from promptpo.search.programs.reading import boards_of, split_vector, whole_numbers
from promptpo.search.programs.scene import Board, Flags, Number, Scene, Seen, Target
from promptpo.search.programs.targets import targets_in
from promptpo.search.programs.view import View, find_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.programs.leaves import Leaf

MOST_TARGETS = 10


def look(
    leaves: Sequence[Leaf], seen: Seen, actions: tuple[Any, ...], known: Scene | None = None
) -> Scene | None:
    """What the observations show; None where they are not of whole numbers.

    Args:
        leaves: The parts of an observation.
        seen: Rollouts.
        actions: All actions.
        known: What fewer rollouts have shown.
    """
    numbers: list[Number] = []
    rows: list[Flags] = []
    boards: list[Board] = []
    for at, leaf in enumerate(leaves):
        parts = [np.stack([leaf.read(o) for o in episode]) for episode in seen.observations]
        whole = whole_numbers(leaf, parts)
        if whole is None:
            return None
        code, values = whole
        if len(leaf.shape) <= 1:
            some, flags = split_vector(leaf, at, code, values)
            numbers += some
            rows += flags
        else:
            boards += boards_of(leaf, code, values, at)
    acted = [list(episode) for episode in seen.actions]
    place = find_place(numbers, boards, acted, actions)
    for board in boards if place is None else ():
        before = known.view if known is not None and known.board and known.board.name == board.name else None
        view = find_view(board.seen, acted, actions, before)
        if view is not None:
            return _as_view(view, board, numbers, actions)
    if place is None:
        return Scene(actions, tuple(n for n in numbers if len(n.values) > 1), rows=tuple(rows))
    rows, loose = aligned(rows, place)
    numbers = [n for n in [*numbers, *loose] if n.home not in place.homes or n.home == (-1, -1)]
    targets = targets_in(numbers, rows, boards, place)
    return Scene(
        actions,
        tuple(n for n in numbers if len(n.values) > 1),
        place.code,
        place.moves,
        place.sizes,
        place.lows,
        tuple(targets[:MOST_TARGETS]),
        solid_in(place, acted),
        place.board is not None and any(int(v.max()) > 1 for v in place.board.seen),
        tuple(rows),
    )


def _as_view(view: View, board: Board, numbers: Sequence[Number], actions: tuple[Any, ...]) -> Scene:
    """A scene that is seen from the own place, on a map of the policy's own."""
    r, c = view.centre
    own = Number("held", f"int(board(obs)[{r}, {c}])", tuple(v[:, r, c] for v in board.seen), 0, 0)
    fr, fc = r + view.ahead[0], c + view.ahead[1]
    front = Number("front", f"int(board(obs)[{fr}, {fc}])", tuple(v[:, fr, fc] for v in board.seen), 0, 0)
    targets = [
        Target(f"thing_{value}", f"self.find(({value},))", f"that show {value}")
        for value in view.things[:MOST_TARGETS]
    ]
    targets.append(Target("new_things", "self.new()", "with things that rollouts had not shown"))
    return Scene(actions, (own, front, *numbers), targets=tuple(targets), view=view, board=board)
