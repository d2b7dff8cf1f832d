from enum import IntEnum


class Phase(IntEnum):
    NS_GREEN = 0
    EW_GREEN = 1
    ALL_RED = 2


class Sig(IntEnum):
    KEEP = 0
    SWITCH = 1  # goes through ALL_RED for two ticks
