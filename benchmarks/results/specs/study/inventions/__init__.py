"""Ten small environments that stand in no training data: none is a copy of a known one."""

from inventions.goods import Bakery, Ferry, Kiln, Relay, Warehouse
from inventions.nature import Apiary, Fishpond, Frost, Greenhouse, SolarPump

INVENTIONS = {
    one.__name__: f"{one.__module__}:{one.__name__}"
    for one in (Apiary, Bakery, Ferry, Fishpond, Frost, Greenhouse, Kiln, Relay, SolarPump, Warehouse)
}
"""Name to the id with which promptpo builds it."""

__all__ = ["INVENTIONS"]
