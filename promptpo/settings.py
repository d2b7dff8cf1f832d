"""Settings of a run as users see them: flag, keyword, bounds and help of each field of `Config`, defined once.

The flags of `optimize` and `resume`, the keywords of `promptpo.optimize` and its reference are generated from them.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from annotated_types import GroupedMetadata, Interval

from promptpo.errors import UsageError, suggest

MAX_SETTING = 2**63 - 1
"""Maximum value of a setting without another maximum."""


@dataclass(frozen=True, slots=True)
class RunSetting(GroupedMetadata):
    """One setting of a run, with bounds checked by pydantic.

    Attributes:
        group: Heading for its flag in ``--help-all``; empty for settings without a flag.
        keyword: Keyword of `promptpo.optimize`; by default the field's name.
        flags: Flags as typer takes them; by default made from the keyword. A flag that begins with ``--no-`` sets False.
        metavar: Placeholder for its value in help.
        least: Minimum value.
        above: Exclusive lower bound.
        most: Maximum value, if there is a lower bound.
        words: Type on the command line, if not the field's.
        read: Converts the value from the command line to the field's.
        resolve: Converts the user's value, from a flag or a keyword, to the field's.
        resumed: Whether it may change when a run is resumed.
        name: Name of the field.
        help: Description for users, from the docstring of the field's class.
        type: Type of the field.
        default: Default of the field.
    """

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
    help: str = ""
    type: Any = None
    default: Any = None

    def __iter__(self) -> Iterator[Any]:
        bounded = self.least is not None or self.above is not None
        yield from Interval(ge=self.least, gt=self.above, le=self.most if bounded else None)

    def normalize(self, value: Any) -> Any:
        """Return a user's value in the form in which it is stored."""
        return value if value is None or self.resolve is None else self.resolve(value)

    @property
    def negated(self) -> bool:
        """Whether its flag means false."""
        return self.flags.startswith("--no-")


def settings_of(kind: Any) -> Iterator[RunSetting]:
    """Yield the settings of a dataclass and of dataclasses in its fields, in order."""
    hints, described = get_type_hints(kind, include_extras=True), _descriptions(kind)
    for field in fields(kind):
        name, of, default = field.name, hints[field.name], field.default
        if get_origin(of) is Annotated:
            of, *found = get_args(of)
            text = described.get(name, "")
            for one in found:
                keyword = one.keyword or name
                yield replace(one, keyword=keyword, name=name, help=text, type=of, default=default)
        if is_dataclass(of) and field.default_factory is not MISSING:
            yield from settings_of(of)


def _descriptions(kind: Any) -> dict[str, str]:
    """Return what the docstring of a class says of its attributes, by name."""
    _, _, attributes = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")
    entries = re.split(r"^    (?=\w)", attributes, flags=re.MULTILINE)
    pairs = (" ".join(entry.split()).partition(": ") for entry in entries)
    return {name: text for name, _, text in pairs}


def check_names(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse unknown names.

    Args:
        given: The names.
        known: All known names.
        what: Beginning of the error message, for example "there is no setting".

    Raises:
        UsageError: A name is unknown; the message names it and the closest known one.
    """
    names = sorted(known)
    for name in given:
        if name not in names:
            hint = suggest(name, names, f"there are: {', '.join(names)}.")
            raise UsageError(f"{what} {name!r}; {hint}")


def options_of(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` pairs; values that are JSON are parsed as JSON.

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
    """Parse a value in JSON or Python notation; any other text stays a string."""
    words = {"True": True, "False": False, "None": None}
    try:
        return words[text] if text in words else json.loads(text)
    except (ValueError, RecursionError):
        return text


def in_reference(settings: Iterable[RunSetting]) -> str:
    """Format settings like the arguments in a docstring."""
    return "\n".join(f"        {setting.keyword}: {setting.help}" for setting in settings)
