"""Flags in groups: a command takes a dataclass, its user sees one flag for each field."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass replaced by that dataclass's fields.

    The fields are annotated as parameters of a typer command are; a field without a default is a flag that
    must be given.

    Args:
        command: What is done.
        settings: Flags in place of its ``**settings``.
    """
    flat: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        of: Any = parameter.annotation
        if is_dataclass(of):
            hints, made_by = get_type_hints(of, include_extras=True), inspect.signature(parameter.annotation)
            kind = inspect.Parameter.KEYWORD_ONLY
            given = made_by.parameters.items()
            flags = [one.replace(annotation=hints[name], kind=kind) for name, one in given]
        elif hasattr(of, "flags"):
            flags = of.flags
        else:
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        flat += flags
        groups[parameter.name] = (of, [flag.name for flag in flags])

    @functools.wraps(command)
    def with_groups(**values: Any) -> None:
        for name, (of, names) in groups.items():
            values[name] = of(**{each: values.pop(each) for each in names})
        command(**values)

    names = [parameter.name for parameter in flat]
    if len(names) != len(set(names)):
        raise TypeError(f"two flags of {command.__name__} have the same name")
    vars(with_groups).update(
        __signature__=inspect.Signature(flat), __annotations__={p.name: p.annotation for p in flat}
    )
    return with_groups
