"""The paper's notation for its six domains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.codecs.base import INTEGER, Codec
from promptpo_baselines.icpi.domains.chain import GOAL as CHAIN_GOAL
from promptpo_baselines.icpi.domains.invaders import DEAD
from promptpo_baselines.icpi.domains.maze import GOAL as MAZE_GOAL
from promptpo_baselines.icpi.domains.point_mass import GOAL_RADIUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptpo_baselines.icpi.values import Number, Obs

CHAIN, DISTRACTOR_CHAIN, MAZE = "state == [{}]", "state == [{}, {}]", "state == C(i={}, j={})"
TRYING = ("state = left()", "reward = try_goal(state)", "state = right()")


def at_goal(template: str, *goal: int) -> Callable[[Obs], str]:
    """Return a hint that says whether a state is the goal; what follows the goal's numbers in a state is repeated."""

    def hint(obs: Obs) -> str:
        whole = (*goal, *obs[len(goal) :])
        return template.format(*whole).replace("==", "==" if obs == whole else "!=")

    return hint


def write_comparison(left: str, a: Number, right: str, b: Number) -> str:
    """Return the one of ``left == right``, ``left < right`` and ``left > right`` that is true."""
    return f"{left} {'==' if a == b else '<' if a < b else '>'} {right}"


def of_catch(obs: Obs) -> str:
    """The columns compared, and the ball's height."""
    paddle, x, y = obs
    order = write_comparison("paddle.x", paddle, "ball.x", x)
    return f"paddle.x == {paddle} and ball.x == {x} and {order} and ball.y == {y}"


def of_invaders(obs: Obs) -> str:
    """The columns of the ship and of the living aliens, and how they compare."""
    living = {f"aliens[{n}].x": x for n, (x, y) in enumerate((obs[1:3], obs[3:5])) if y >= 0}
    if not living:
        return ""
    columns = ", ".join(map(str, (obs[0], *living.values())))
    orders = (write_comparison("ship.x", obs[0], name, x) for name, x in living.items())
    return " and ".join([f"(ship.x, {', '.join(living)}) == ({columns})", *orders])


def of_point_mass(obs: Obs) -> str:
    """On which side of the goal the point is, and whether it rests."""
    position, velocity = obs
    where = f"-{GOAL_RADIUS:g} <= pos <= {GOAL_RADIUS:g}"
    if abs(position) > GOAL_RADIUS:
        where = f"pos < -{GOAL_RADIUS:g}" if position < 0 else f"{GOAL_RADIUS:g} < pos"
    return f"{where} and vel {'==' if velocity == 0 else '!='} 0"


class InvadersCodec(Codec):
    """``assert ship == C(2, 0) and aliens == [C(3, 5), None]``, and what follows from it; a dead alien is None."""

    def __init__(self) -> None:
        super().__init__(
            "ship == C({}, 0) and aliens == [C({}, {}), C({}, {})]",
            ("ship.left()", "reward = ship.shoot(aliens)", "ship.right()"),
            of_invaders,
            header="ship, aliens = reset()",
            step_suffix="\nfor a in aliens:\n    a.descend()",
            done_in_trajectory=True,
        )
        alien = rf"(?:C\({INTEGER}, {INTEGER}\)|None)"
        self.pattern = re.compile(rf"assert ship == C\({INTEGER}, 0\) and aliens == \[{alien}, {alien}\]")

    def facts(self, obs: Obs) -> str:
        """Return the positions of the ship and the aliens."""
        return super().facts(obs).replace("C(-1, -1)", "None")

    def from_match(self, match: re.Match[str]) -> Obs:
        """Return the groups as integers; those of a dead alien are empty."""
        return tuple(int(group or DEAD[0]) for group in match.groups())


CODECS: Mapping[str, Codec] = {
    "promptpo/Chain-v0": Codec(CHAIN, TRYING, at_goal(CHAIN, CHAIN_GOAL)),
    "promptpo/DistractorChain-v0": Codec(DISTRACTOR_CHAIN, TRYING, at_goal(DISTRACTOR_CHAIN, CHAIN_GOAL)),
    "promptpo/Maze-v0": Codec(
        MAZE,
        [f"state, reward = {name}()" for name in ("left", "down", "up", "right")],
        at_goal(MAZE, *MAZE_GOAL),
    ),
    "promptpo/MiniCatch-v0": Codec(
        "paddle == C({}, 0) and ball == C({}, {})",
        [f"reward = paddle.{name}()" for name in ("left", "stay", "right")],
        of_catch,
        header="paddle, ball = reset()",
        action_suffix="\nball.descend()",
        done_in_trajectory=True,
    ),
    "promptpo/MiniInvaders-v0": InvadersCodec(),
    "promptpo/PointMass-v0": Codec(
        "pos == {:.2f} and vel == {:.2f}",
        ("pos, vel = decel(pos, vel)", "pos, vel = accel(pos, vel)"),
        of_point_mass,
        header="pos, vel = reset()",
    ),
}
