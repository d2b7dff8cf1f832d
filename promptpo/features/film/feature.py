"""Pictures for prompts: film strips of the leader's episodes, and first frames of observations that are pictures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.artifacts import PICTURES, write_picture
from promptpo.core.feature import Camera, Feature, PromptSection, SearchContext
from promptpo.errors import RenderingError
from promptpo.files import file_name, read_regular
from promptpo.llm.base import Still
from promptpo.program import Program
from promptpo.prompts.feedback import number

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import Plan, RunStatus
    from promptpo.core.history import History
    from promptpo.core.sample import Sampler
    from promptpo_sandbox import Episode, Rollout

logger = logging.getLogger(__name__)


async def strips_of(camera: Camera | None, episodes: Mapping[str, Episode]) -> tuple[Still, ...]:
    """A strip of each recorded episode under its name; of those that can be rendered, none without a camera.

    Args:
        camera: Makes them.
        episodes: By what is said above each.
    """
    found: list[Still] = []
    if camera is None:
        return ()
    for name, episode in episodes.items():
        try:
            png, steps = await asyncio.to_thread(camera, _actions_only(episode))
        except RenderingError as error:
            logger.warning("no film strips are shown: %s", error)
            break
        found.append(Still(f"{name}, after steps {', '.join(map(str, steps))}:", png))
    return tuple(found)


class Filming(Feature):
    """Film strips for a model that accepts images.

    Args:
        context: Of a run whose model is shown pictures.
        camera: Renders episodes.
    """

    def __init__(self, context: SearchContext, camera: Camera) -> None:
        self._work, self._horizon, self._camera = context.work, context.horizon, camera
        self._frames = tuple(Still(caption, png) for caption, png in context.spec.first_frames)
        self._kept: dict[str, list[Episode]] = {}
        self._strips: tuple[Still, ...] = ()
        self._told = False
        self._missing = ""

    def on_rollout(self, name: str, source: str, rollout: Rollout | None) -> None:  # noqa: ARG002 - one of the seams
        """Keep the actions of the worst and the best episode of a training rollout, for when its program leads."""
        finished = [e for e in rollout.episodes if e.failure is None] if rollout is not None else []
        if source and finished:
            self._kept[Program.parse(source).digest] = [_actions_only(e) for e in _extremes(finished)]

    async def before_round(self, number: int, history: History) -> None:
        """Have strips of the leader, each leader's made once in a run."""
        if not number:
            return
        leader = history.best()
        if leader is None:
            self._strips = ()
            return
        journal = self._work.journal

        async def make() -> list[dict[str, str]]:
            strips = await self._make_strips(leader)
            return [{"caption": strip.caption, "picture": strip.digest} for strip in strips]

        found = await journal.once_async("frames", leader.id, make)
        if found:
            self._missing = ""
        elif not self._missing:
            self._missing = "they could not be rendered"
        self._strips = tuple(_read(found, journal.directory / PICTURES))

    def section(self, plan: Plan, where: RunStatus) -> PromptSection:  # noqa: ARG002 - one of the seams
        """The first frames, and in later rounds the strips, or why there are none."""
        if plan.kind == "first":
            return PromptSection(stills=self._frames)
        missing = f"No film strips are shown: {self._missing}." if self._missing else ""
        return PromptSection(note=missing, stills=(*self._frames[:1], *self._strips))

    async def _make_strips(self, leader: Attempt) -> list[Still]:
        digest = Program.parse(leader.candidate.source).digest
        episodes = self._kept.get(digest)
        if episodes is None:  # of a process that is gone
            records = sorted(leader.evaluation.episodes, key=lambda record: record.return_)
            seeds = list(dict.fromkeys(record.seed for record in (records[0], records[-1])))
            again = await self._work.replay_trajectories(
                f"{leader.id}.film", leader.candidate, seeds, horizon=self._horizon, record="seen"
            )
            episodes = _extremes([e for e in again.episodes if e.failure is None])
        folder = self._work.journal.directory / PICTURES
        try:
            return [
                await asyncio.to_thread(self._make_strip, leader, episode, place, folder)
                for place, episode in zip(_places(episodes), episodes, strict=True)
            ]
        except RenderingError as error:
            self._missing = str(error).rstrip(".")
            if not self._told:
                self._told = True
                logger.warning("no film strips are shown: %s", error)
            return []

    def _make_strip(self, leader: Attempt, episode: Episode, place: str, folder: Path) -> Still:
        png, steps = self._camera(episode)
        caption = (
            f"{place} training episode of {leader.id} (return {number(episode.return_)}, {episode.steps} steps), "
            f"after steps {', '.join(map(str, steps))}:"
        )
        return write_picture(Still(caption, png), folder)


def _extremes(episodes: Sequence[Episode]) -> list[Episode]:
    """The worst and the best; one where they earned the same."""
    by_return = sorted(episodes, key=lambda episode: episode.return_)
    if not by_return or by_return[0].return_ == by_return[-1].return_:
        return by_return[:1]
    return [by_return[0], by_return[-1]]


def _places(episodes: Sequence[Episode]) -> tuple[str, ...]:
    return ("The worst", "The best") if len(episodes) > 1 else ("A typical",) * len(episodes)


def _actions_only(episode: Episode) -> Episode:
    trajectory = episode.trajectory
    return (
        episode
        if trajectory is None
        else replace(episode, trajectory=replace(trajectory, observations=(), debug=(), infos=()))
    )


def _read(found: Sequence[Any], folder: Path) -> list[Still]:
    """The strips that the journal names, as far as their files are there."""
    paths = [(item["caption"], folder / f"{file_name(item['picture'])}.png") for item in found]
    return [
        Still(caption, read_regular(path), str(path.absolute())) for caption, path in paths if path.exists()
    ]


def install(context: SearchContext, _: Sampler) -> Feature:
    """Make the feature for a run whose model sees."""
    if context.camera is None:
        raise RuntimeError("episodes of this run cannot be rendered")
    return Filming(context, context.camera)
