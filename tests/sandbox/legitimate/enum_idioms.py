# Style: enumerations with auto, methods, iteration and values.
import enum
from enum import Enum, IntEnum, auto, unique


class Mode(Enum):
    SEARCH = auto()
    GRASP = auto()
    LIFT = auto()

    def following(self):
        members = list(Mode)
        return members[(members.index(self) + 1) % len(members)]


@unique
class Action(IntEnum):
    LEFT = 0
    STAY = 1
    RIGHT = 2


class Direction(enum.Enum):
    NORTH = (0, -1)
    EAST = (1, 0)

    @property
    def dx(self):
        return self.value[0]


class Policy:
    def __init__(self):
        self.mode = Mode.SEARCH
        self.actions = {Mode.SEARCH: Action.LEFT, Mode.GRASP: Action.STAY, Mode.LIFT: Action.RIGHT}

    def act(self, obs):
        self.mode = self.mode.following()
        assert self.mode.name in {"SEARCH", "GRASP", "LIFT"}
        assert Mode["LIFT"] is Mode(3)
        assert isinstance(Action.LEFT, IntEnum)
        return int(self.actions[self.mode]) + Direction.NORTH.dx
