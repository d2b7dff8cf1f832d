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
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs

from markupsafe import Markup

from promptpo.errors import RenderingError
from promptpo.output.film import Film, film
from promptpo.output.film.strip import in_words
from promptpo.output.live import LocalPage, PageServer
from promptpo.output.report.templates import rendered
from promptpo.telling.preferences import Preference, told

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo_sandbox import Episode

FRAMES, WIDTH, RENDERING_SECONDS = 40, 400, 20.0
MOST_BYTES = 1000
"""Of an answer."""

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


class PersonJudge:
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
        judge = self

        class JudgedHere(_JudgedPage):
            draw = staticmethod(judge.draw)
            take = staticmethod(judge.take)

        self._server = PageServer(JudgedHere, port)

    @property
    def url(self) -> str:
        """Where the page is."""
        return self._server.url

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.__exit__(*error)

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

    def draw(self) -> tuple[str, bool]:
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

    def take(self, secret: str, word: str) -> bool:
        """Take an answer to the pair that is shown; whether it is one."""
        with self._lock:  # a page may be open twice
            question = self._question
            if question is None or question.answer is not None or word not in WORDS:
                return False
            if not secrets.compare_digest(secret.encode(), question.secret.encode()):
                return False
            question.take(WORDS[word])
            return True


class _JudgedPage(LocalPage):
    """The page, and the answers that it sends."""

    take: Callable[[str, str], bool]
    seconds = WAIT_SECONDS

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        """An answer; the browser is sent back to the page."""
        length = self.headers.get("Content-Length", "")
        if not self.is_ours():
            self.send(HTTPStatus.MISDIRECTED_REQUEST, "This is not served under that name.\n")
        elif not length.isdigit() or int(length) > MOST_BYTES:
            self.send(HTTPStatus.BAD_REQUEST, "This is no answer.\n")
            self.close_connection = True
        else:
            given: Any = parse_qs(self.rfile.read(int(length)).decode("ascii", "replace"))
            secret, word = (given.get(name, [""])[0] for name in ("secret", "word"))
            if self.path == "/" and self.take(secret, word):
                self.send(HTTPStatus.SEE_OTHER, "Thank you.\n", headers={"Location": "/"})
            else:
                self.send(HTTPStatus.CONFLICT, "This pair is answered; load the page again.\n")


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
