"""Values from data and back, by pydantic, which is imported when it is needed."""

from __future__ import annotations

from typing import Any

_made: dict[Any, Any] = {}


def adapter(of: Any) -> Any:
    """The `pydantic.TypeAdapter` of a type, made once: making it takes longer than a thousand uses."""
    from pydantic import TypeAdapter

    if of not in _made:
        _made[of] = TypeAdapter(of)
    return _made[of]
