# Style: aliases, generics, protocols, typed dictionaries and unions.
from collections.abc import Callable, Sequence
from typing import Any, Dict, Generic, List, NamedTuple, Optional, Protocol, Tuple, TypedDict, TypeVar, Union, cast

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Vector = NDArray[np.float64]
Cell = Tuple[int, int]
Grid = Dict[Cell, "Node"]


class Node(NamedTuple):
    cost: float
    cell: Cell
    parent: Optional["Node"] = None

    def total(self) -> float:
        return self.cost


class Config(TypedDict, total=False):
    gain: float
    names: List[str]


class Controller(Protocol):
    def control(self, obs: Vector) -> float: ...


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: List[T] = []

    def push(self, item: T) -> None:
        self.items.append(item)


class Linear:
    def control(self, obs: Union[np.ndarray, Sequence[float]]) -> float:
        return float(np.sum(obs))


class Policy:
    config: Config = {"gain": 1.0, "names": ["a"]}

    def __init__(self, params: Optional[Dict[str, Any]] = None) -> None:
        self.controller: Controller = Linear()
        self.stack: Stack[int] = Stack()
        self.f: Callable[[float], int] = lambda x: int(x > 0)

    def act(self, obs: "np.ndarray | list[float]") -> int:
        node = Node(self.controller.control(obs) * self.config["gain"], (0, 1))
        self.stack.push(cast(int, self.f(node.total())))
        if isinstance(obs, (np.ndarray, list, tuple)) and not isinstance(obs, (int, np.integer)):
            node = node._replace(cost=0.0)
        if type(obs) is np.ndarray or type(obs) in (list, tuple) or type(obs).__name__ == "x":
            return self.stack.items[-1]
        return 0
