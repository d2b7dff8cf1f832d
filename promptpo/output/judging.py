"""A page on which a person says which of two episodes comes closer to a goal, from films or descriptions.

It is served to this machine only. It accepts one of three words for the pair on display, from readers of the page
only: each page contains a secret that an answer must include.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.errors import RenderingError
from promptpo.features.goals.prompts import Preference, describe_episode
from promptpo.output.film import Film, film
from promptpo.output.report.templates import render_page
from promptpo.output.serving import PageServer

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo_sandbox import Episode

FRAMES, WIDTH, RENDERING_SECONDS = 40, 400, 20.0
WORDS: Mapping[str, Preference] = {"1": "first", "2": "second", "=": "equal"}
WAIT_SECONDS = 1

logger = logging.getLogger(__name__)


Side = tuple[Film | None, str]
"""One of the two episodes: its film, if it can be rendered, and its observations and actions as text."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """The pair on display, with the secret that an answer must include."""

    number: int
    total: int
    sides: Sequence[Side]
    answer: asyncio.Future[Preference]
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(16))


class PersonJudge(PageServer):
    """Asks a person, pair by pair; use it as a context manager.

    Args:
        task: The task that is played.
        goal: The goal, as a sentence.
        names: Names of the components of observations.

    Raises:
        OSError: No port is available.
    """

    def __init__(self, task: Task, goal: str, names: Mapping[str, str]) -> None:
        self._task, self._goal, self._names = task, goal, names
        self._question: ShownPair | None = None
        self._lock = threading.Lock()
        self._sides: dict[str, Side] = {}
        super().__init__(self._page, seconds=WAIT_SECONDS, take=self._answer)

    async def ask(
        self, number: int, total: int, first: tuple[str, Episode], second: tuple[str, Episode]
    ) -> Preference:
        """Show two episodes side by side and wait for the person's answer.

        Args:
            number: Number of the pair, from 1.
            total: Number of pairs in total.
            first: The name and the episode on the left; the name identifies it in later pairs.
            second: The same on the right.
        """
        if not self._sides:
            # logged, to be printed in quiet runs, too: the run waits for the answer
            logger.warning("which episode comes closer to the goal? Answer at %s (%s pairs)", self.url, total)
        sides = [await asyncio.to_thread(self._side, *pair) for pair in (first, second)]
        answer: asyncio.Future[Preference] = asyncio.get_running_loop().create_future()
        self._question = ShownPair(number, total, sides, answer)
        return await answer

    def _side(self, name: str, episode: Episode) -> Side:
        if name not in self._sides:
            try:
                pictures = film(self._task, episode, frames=FRAMES, width=WIDTH, seconds=RENDERING_SECONDS)
            except RenderingError:
                pictures = None
            self._sides[name] = pictures, describe_episode(episode, self._names)
        return self._sides[name]

    def _page(self) -> tuple[str, bool]:
        """Return the page, and whether it waits for the next pair."""
        question = self._question
        return render_page("judge.html.j2", "judge.js", goal=self._goal, question=question), question is None

    def _answer(self, secret: str, word: str) -> bool:
        """Take an answer to the pair on display; return whether it is valid."""
        with self._lock:  # a page may be open twice
            question = self._question
            if (
                question is None
                or word not in WORDS
                or not secrets.compare_digest(secret.encode(), question.secret.encode())
            ):
                return False
            self._question = None
            question.answer.get_loop().call_soon_threadsafe(question.answer.set_result, WORDS[word])
            return True
