"""Settings as people meet them: flag, keyword, bounds and help of each field of `Config`, said once.

The flags of `optimize` and `resume`, the keywords of `promptpo.optimize` and its reference are made of this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from annotated_types import GroupedMetadata, Interval

from promptpo.errors import UsageError, suggest

MAX_SETTING = 2**63 - 1
"""The most that a setting may be where nothing else is said."""


@dataclass(frozen=True, slots=True)
class RunSetting(GroupedMetadata):
    """One setting of a run; pydantic keeps to its bounds.

    Attributes:
        help: What it does.
        group: The title under which ``--help-all`` shows its flag; empty for what is set in another way.
        keyword: Of `promptpo.optimize`; the field's name when empty.
        flags: As typer takes them; made of the keyword when empty. One that begins with ``--no-`` means false.
        metavar: What stands for its value in help.
        least: The least that a number may be.
        above: What a number must be more than.
        most: The most that a number with a bound may be.
        words: Type on the command line, where it is not the field's.
        read: Makes the field's value of what the command line gives.
        resolve: Makes the field's value of what the user gives, in a flag or a keyword.
        resumed: Whether it may change where a run goes on.
        name: Of the field.
        type: Of the field.
        default: Of the field.
    """

    help: str = ""
    group: str = ""
    keyword: str = ""
    flags: str = ""
    metavar: str | None = None
    least: float | None = None
    above: float | None = None
    most: int = MAX_SETTING
    words: Any = None
    read: Callable[[Any], Any] | None = None
    resolve: Callable[[Any], Any] | None = None
    resumed: bool = False
    name: str = ""
    type: Any = None
    default: Any = None

    def __iter__(self) -> Iterator[Any]:
        bounded = self.least is not None or self.above is not None
        yield from Interval(ge=self.least, gt=self.above, le=self.most if bounded else None)

    def normalize(self, value: Any) -> Any:
        """Return the form in which a value of the user is kept."""
        return value if value is None or self.resolve is None else self.resolve(value)

    @property
    def negated(self) -> bool:
        """Whether its flag means false."""
        return self.flags.startswith("--no-")


def settings_of(kind: Any) -> Iterator[RunSetting]:
    """The settings that a dataclass and those in its fields have, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        of, *more = (
            get_args(hints[field.name]) if get_origin(hints[field.name]) is Annotated else [hints[field.name]]
        )
        for found in more:
            yield replace(
                found, keyword=found.keyword or field.name, name=field.name, type=of, default=field.default
            )
        if is_dataclass(of) and field.default_factory is not MISSING:
            yield from settings_of(of)


def check_names(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse names that are not known.

    Args:
        given: The names.
        known: Those that there are.
        what: How the sentence begins, for example "there is no setting".

    Raises:
        UsageError: Names the first that is not known, and the nearest that is.
    """
    names = sorted(known)
    for name in given:
        if name not in names:
            hint = suggest(name, names, f"there are: {', '.join(names)}.")
            raise UsageError(f"{what} {name!r}; {hint}")


def options_of(pairs: Sequence[str] | None) -> dict[str, Any]:
    """``NAME=VALUE`` pairs as a dict; values are read as JSON where they are JSON.

    Raises:
        UsageError: A pair has no ``=``.
    """
    options: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--option takes NAME=VALUE, not {pair!r}.")
        options[name] = plain_value(value)
    return options


def plain_value(text: str) -> Any:
    """A value as JSON has it, or as Python writes it; any other text is itself."""
    words = {"True": True, "False": False, "None": None}
    try:
        return words[text] if text in words else json.loads(text)
    except (ValueError, RecursionError):
        return text


def in_reference(settings: Iterable[RunSetting]) -> str:
    """Settings as a docstring lists arguments."""
    return "\n".join(
        f"        {setting.keyword}: {'False: ' * setting.negated}{setting.help}" for setting in settings
    )
