# Style: modern annotations, TypeVar and Protocol.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, ClassVar, Final, Generic, Literal, Optional, Protocol, TypeVar, Union, cast

T = TypeVar("T")
Mode = Literal["go", "stop"]
LIMIT: Final = 3


class Chooser(Protocol):
    def pick(self, xs: Sequence[int]) -> int: ...


class Box(Generic[T]):
    def __init__(self, item: T) -> None:
        self.item = item


class Policy:
    names: ClassVar[dict[str, int]] = {}
    mode: Mode = "go"
    last: Optional[int] = None

    def pick(self, xs: Sequence[int]) -> int:
        f: Callable[[Union[int, float]], int] = int
        return cast(int, f(sum(xs))) % LIMIT

    def act(self, obs: Any) -> int:
        self.last = self.pick([int(v > 0) for v in obs])
        return Box(self.last).item
