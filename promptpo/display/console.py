"""Print to the terminal, with control characters of models, environments and files made harmless."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap

from promptpo_sandbox.text import clean, clean_line

COMMAND = re.compile(r"(?<=: )promptpo [^;]*$")
"""A command at the end of a line, which is not broken, so that it can be copied."""


def wrap(text: str, width: int) -> str:
    """Wrap lines between words; long words, and commands at the end of a line, stay whole."""
    lines = []
    for line in text.splitlines():
        if len(line) <= width:
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        whole = COMMAND.sub(lambda found: found[0].replace(" ", "\0"), line)
        broken = textwrap.wrap(
            whole, width, subsequent_indent=indent + "  " if indent else "",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        lines += [part.replace("\0", " ") for part in broken]
    return "\n".join(lines)


def tell(sentence: str, *, error: bool = False) -> None:
    """Print one line, cleaned."""
    say(clean_line(sentence), error=error)


def say(text: str, *, error: bool = False, prose: bool = False) -> None:
    """Print a text of several lines, cleaned.

    Args:
        text: What to print.
        error: Print on standard error.
        prose: Whether to wrap long lines on a terminal.
    """
    file = sys.stderr if error else sys.stdout
    encoding = getattr(file, "encoding", None) or "utf-8"
    # characters that the terminal cannot encode are escaped rather than raising
    shown = clean(text).encode(encoding, "backslashreplace").decode(encoding)
    if prose and file.isatty():
        shown = wrap(shown, shutil.get_terminal_size().columns)
    print(shown, file=file, flush=True)
