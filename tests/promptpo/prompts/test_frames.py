"""Images in prompts: first frames of image observations, and which models get them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from promptpo.api import make_config
from promptpo.core.budget import Ledger
from promptpo.core.feature import Plan, RunStatus, SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.llm.scripted import ScriptedLLM
from promptpo.prompts.conversation import Conversation
from promptpo.spec.describe import describe_env
from promptpo.spec.pictures import enlarge
from tests.sandbox.test_looking import PictureEnv


@pytest.mark.parametrize(
    ("sees", "frames", "pictures"),
    [
        (True, None, True),
        (True, False, False),
        (None, None, False),
        (None, True, True),
        (False, True, False),
        (False, None, False),
    ],
)
def test_frames_depend_on_the_model_and_the_setting(
    sees: bool | None, frames: bool | None, pictures: bool
) -> None:
    """The default is to show them only to models known to accept images; with --frames, unknown models get them too."""
    config = make_config(Task("Pictures-v0"), {"frames": frames})
    assert config.shows_frames(ScriptedLLM([], sees=sees)) is pictures


def test_first_frames_are_attached_to_requests(tmp_path: Path) -> None:
    """First requests get all frames, later ones get one."""
    spec = describe_env(PictureEnv(), Task("Pictures-v0"))[0]
    config = make_config(Task("Pictures-v0"), {})
    captions = []
    with Journal(tmp_path / "run") as journal:
        for sees in (True, False):
            llm = ScriptedLLM([], sees=sees)
            work = RecordedWork(llm, None, config, journal, Ledger(config.budget, journal.events))
            conversation = Conversation(SearchContext(spec, config, work, 100))
            conversation.begin(History(), RunStatus(1, 2))
            for kind in ("first", "improve"):
                images = conversation.question(Plan(1, 0, kind), [])[0].images
                captions.append([image.caption[:5] for image in images])
    assert captions == [["`obs`", "The s"], ["`obs`"], [], []]


def test_enlarged_frame_keeps_its_pixels() -> None:
    frame = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    sheet = np.asarray(Image.open(io.BytesIO(enlarge(frame, 7))))
    assert sheet.shape == (40 * 7, 60 * 7, 3)
    assert np.array_equal(sheet[3::7, 3::7], frame)


def test_frames_are_refused_for_an_anonymous_task() -> None:
    """They would show which environment it is."""
    with pytest.raises(UsageError, match="--frames shows which environment it is"):
        make_config(Task("CartPole-v1"), {"frames": True, "reveal": "anonymous"})
