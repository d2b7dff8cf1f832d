"""How the paper writes its six domains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.codecs.base import INTEGER, Codec, IntegerCodec, compare, equality
from promptpo_baselines.icpi.domains.chain import GOAL as CHAIN_GOAL
from promptpo_baselines.icpi.domains.invaders import DEAD
from promptpo_baselines.icpi.domains.maze import GOAL as MAZE_GOAL
from promptpo_baselines.icpi.domains.point_mass import GOAL_RADIUS

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import Obs


class ChainCodec(IntegerCodec):
    """``assert state == [6] and state != [4]``."""

    template = "state == [{}]"
    header = "state, reward = reset()"
    actions = ("state = left()", "reward = try_goal(state)", "state = right()")

    def hint(self, obs: Obs) -> str:
        """Whether this is the goal."""
        return f"state {equality(equal=obs[0] == CHAIN_GOAL)} [{CHAIN_GOAL}]"


class DistractorChainCodec(ChainCodec):
    """``assert state == [6, 3] and state != [4, 3]``."""

    template = "state == [{}, {}]"

    def hint(self, obs: Obs) -> str:
        """Whether this is the goal; the distractor is repeated."""
        return f"state {equality(equal=obs[0] == CHAIN_GOAL)} [{CHAIN_GOAL}, {obs[1]}]"


class MazeCodec(IntegerCodec):
    """``assert state == C(i=2, j=1) and state != C(i=1, j=0)``."""

    template = "state == C(i={}, j={})"
    header = "state, reward = reset()"
    actions = tuple(f"state, reward = {name}()" for name in ("left", "down", "up", "right"))

    def hint(self, obs: Obs) -> str:
        """Whether this is the goal."""
        return f"state {equality(equal=obs == MAZE_GOAL)} C(i={MAZE_GOAL[0]}, j={MAZE_GOAL[1]})"


class CatchCodec(IntegerCodec):
    """``assert paddle == C(2, 0) and ball == C(0, 4)``, and what follows from it."""

    template = "paddle == C({}, 0) and ball == C({}, {})"
    header = "paddle, ball = reset()"
    actions = tuple(f"reward = paddle.{name}()" for name in ("left", "stay", "right"))
    action_suffix = "\nball.descend()"
    done_in_trajectory = True

    def hint(self, obs: Obs) -> str:
        """The columns compared, and the ball's height."""
        paddle, x, y = obs
        order = compare("paddle.x", paddle, "ball.x", x)
        return f"paddle.x == {paddle} and ball.x == {x} and {order} and ball.y == {y}"


class InvadersCodec(Codec):
    """``assert ship == C(2, 0) and aliens == [C(3, 5), None]``, and what follows from it."""

    header = "ship, aliens = reset()"
    actions = ("ship.left()", "reward = ship.shoot(aliens)", "ship.right()")
    step_suffix = "\nfor a in aliens:\n    a.descend()"
    done_in_trajectory = True
    _ALIEN = rf"(?:C\({INTEGER}, {INTEGER}\)|None)"
    pattern = re.compile(rf"assert ship == C\({INTEGER}, 0\) and aliens == \[{_ALIEN}, {_ALIEN}\]")

    def facts(self, obs: Obs) -> str:
        """Where the ship and the aliens are; a dead alien is None."""
        first, second = (
            f"C({x}, {y})" if (x, y) != DEAD else "None" for x, y in ((obs[1], obs[2]), (obs[3], obs[4]))
        )
        return f"ship == C({obs[0]}, 0) and aliens == [{first}, {second}]"

    def hint(self, obs: Obs) -> str:
        """The columns of the ship and of the living aliens, and how they compare."""
        ship = obs[0]
        alive = [
            (f"aliens[{n}].x", x) for n, (x, y) in enumerate(((obs[1], obs[2]), (obs[3], obs[4]))) if y >= 0
        ]
        if not alive:
            return ""
        names = ", ".join(["ship.x", *(name for name, _ in alive)])
        columns = ", ".join(str(x) for x in (ship, *(x for _, x in alive)))
        orders = (compare("ship.x", ship, name, x) for name, x in alive)
        return " and ".join([f"({names}) == ({columns})", *orders])

    def from_match(self, match: re.Match[str]) -> Obs:
        """The groups as integers; those of a dead alien are empty."""
        ship, *aliens = match.groups()
        return (int(ship), *(DEAD[0] if value is None else int(value) for value in aliens))


class PointMassCodec(Codec):
    """``assert pos == -3.45 and vel == 0.00 and pos < -2 and vel == 0``."""

    header = "pos, vel = reset()"
    actions = ("pos, vel = decel(pos, vel)", "pos, vel = accel(pos, vel)")
    pattern = re.compile(r"assert pos == (-?\d+\.\d+) and vel == (-?\d+)\.0+")

    def facts(self, obs: Obs) -> str:
        """Two decimals; the state itself is not rounded."""
        return f"pos == {obs[0]:.2f} and vel == {obs[1]:.2f}"

    def hint(self, obs: Obs) -> str:
        """On which side of the goal the point is, and whether it rests."""
        position, velocity = obs
        radius = f"{GOAL_RADIUS:g}"
        if position < -GOAL_RADIUS:
            where = f"pos < -{radius}"
        elif position > GOAL_RADIUS:
            where = f"{radius} < pos"
        else:
            where = f"-{radius} <= pos <= {radius}"
        return f"{where} and vel {equality(equal=velocity == 0)} 0"

    def from_match(self, match: re.Match[str]) -> Obs:
        """Position and velocity."""
        return (float(match[1]), int(match[2]))


CODECS: Mapping[str, Codec] = {
    "promptpo/Chain-v0": ChainCodec(),
    "promptpo/DistractorChain-v0": DistractorChainCodec(),
    "promptpo/Maze-v0": MazeCodec(),
    "promptpo/MiniCatch-v0": CatchCodec(),
    "promptpo/MiniInvaders-v0": InvadersCodec(),
    "promptpo/PointMass-v0": PointMassCodec(),
}
