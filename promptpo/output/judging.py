"""A page on which a person says which of two episodes comes closer to a goal: two films, or what was seen and done.

It is served to this machine alone. What it takes is one of three words for the pair that it shows, from who has read
the page: each page holds a secret that an answer must bring.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from promptpo.errors import RenderingError
from promptpo.output.film import Film, film
from promptpo.output.film.strip import in_words
from promptpo.output.report.templates import rendered
from promptpo.output.serving import PageServer
from promptpo.telling.preferences import Preference, told

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo_sandbox import Episode

FRAMES, WIDTH, RENDERING_SECONDS = 40, 400, 20.0
WORDS: Mapping[str, Preference] = {"1": "first", "2": "second", "=": "equal"}
WAIT_SECONDS = 1


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two episodes: its film, or what was seen and done where it cannot be filmed."""

    film: Film | None
    text: str


class _Question:
    """The pair that is shown now."""

    def __init__(self, number: int, total: int, sides: tuple[Side, Side]) -> None:
        self.number, self.total, self.sides = number, total, sides
        self.secret = secrets.token_urlsafe(16)
        self.answer: Preference | None = None
        self._loop, self._said = asyncio.get_running_loop(), asyncio.Event()

    def take(self, answer: Preference) -> None:
        """Keep the answer, in whatever thread it comes."""
        self.answer = answer
        self._loop.call_soon_threadsafe(self._said.set)

    async def answered(self) -> Preference:
        """Wait for the answer."""
        await self._said.wait()
        assert self.answer is not None  # noqa: S101 - it was taken
        return self.answer


class PersonJudge(PageServer):
    """Asks a person, pair by pair; use it as a context manager.

    Args:
        task: What is played.
        goal: The sentence.
        names: What the parts of observations are called.
        announce: Told once where the page is.
        port: Of the address; 0 takes one that is free.

    Raises:
        OSError: The port cannot be had.
    """

    def __init__(
        self,
        task: Task,
        goal: str,
        names: Mapping[str, str],
        announce: Callable[[str], None],
        port: int = 0,
    ) -> None:
        self._task, self._goal, self._names = replace(task, reward=None), goal, names
        self._announce = announce
        self._question: _Question | None = None
        self._lock = threading.Lock()
        self._sides: dict[str, Side] = {}
        super().__init__(self._page, port, seconds=WAIT_SECONDS, take=self._answer)

    async def ask(
        self, number: int, total: int, first: tuple[str, Episode], second: tuple[str, Episode]
    ) -> Preference:
        """Show two episodes side by side and wait for what the person says.

        Args:
            number: Of the pair, from 1.
            total: Pairs in all.
            first: The episode on the left, and a name that it is remembered by.
            second: The one on the right.
        """
        if number == 1 or self._question is None:
            self._announce(f"which episode comes closer to the goal? Say it at {self.url} ({total} pairs)")
        left = await asyncio.to_thread(self._side, *first)
        right = await asyncio.to_thread(self._side, *second)
        question = _Question(number, total, (left, right))
        self._question = question
        return await question.answered()

    def _side(self, name: str, episode: Episode) -> Side:
        if name not in self._sides:
            try:
                pictures = film(self._task, episode, frames=FRAMES, width=WIDTH, seconds=RENDERING_SECONDS)
            except RenderingError:
                pictures = None
            self._sides[name] = Side(pictures, told(episode, self._names))
        return self._sides[name]

    def _page(self) -> tuple[str, bool]:
        """The page, and whether it waits for the next pair."""
        question = self._question
        waits = question is None or question.answer is not None
        text = rendered(
            "judge.html.j2",
            "judge.js",
            goal=self._goal,
            question=None if waits else question,
            films=None if waits or question is None else _films(question.sides),
        )
        return text, waits

    def _answer(self, secret: str, word: str) -> bool:
        """Take an answer to the pair that is shown; whether it is one."""
        with self._lock:  # a page may be open twice
            question = self._question
            if question is None or question.answer is not None or word not in WORDS:
                return False
            if not secrets.compare_digest(secret.encode(), question.secret.encode()):
                return False
            question.take(WORDS[word])
            return True


def _films(sides: tuple[Side, Side]) -> Markup:
    """The films for the page's script, each frame with its step and place; base64 and numbers only, so nothing in it can end the element."""
    import json

    frames = []
    for side in sides:
        film_ = side.film
        places = {} if film_ is None else in_words(film_.placed)
        shown = () if film_ is None else film_.frames
        frames.append([[step, data, places.get(step, "")] for step, data in shown])
    return Markup(json.dumps(frames))  # noqa: S704 - see above
