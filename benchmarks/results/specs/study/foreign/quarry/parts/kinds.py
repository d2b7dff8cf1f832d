from enum import Enum, IntEnum, auto


class Rock(Enum):
    GRANITE = auto()
    LIME = auto()
    RUBBLE = auto()


class Order(IntEnum):
    """What the foreman shouts."""
    DIG = 0
    BLAST = 1     # costs 6, opens a new face
    HAUL = 2      # drives what is loaded to the crusher
    REST = 3
