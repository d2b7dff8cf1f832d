"""Pictures in prompts: first frames of observations that are images, and for whom there are any."""

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
def test_who_is_shown_pictures(sees: bool | None, frames: bool | None, pictures: bool) -> None:
    """By default models that are known to see; on demand those of which it is not known; never those that do not."""
    config = make_config(Task("Pictures-v0"), {"frames": frames})
    assert config.shows_frames(ScriptedLLM([], sees=sees)) is pictures


def test_first_frames_go_with_requests(tmp_path: Path) -> None:
    """All of them with the first ones, one with later ones; none for a model that does not see."""
    spec = describe_env(PictureEnv(), Task("Pictures-v0"))[0]
    config = make_config(Task("Pictures-v0"), {})
    shown = []
    with Journal(tmp_path / "run") as journal:
        for sees in (True, False):
            llm = ScriptedLLM([], sees=sees)
            work = RecordedWork(llm, None, config, journal, Ledger(config.budget, journal.events))
            talk = Conversation(SearchContext(spec, config, work, 100))
            talk.begin(History(), RunStatus(1, 2))
            for kind in ("first", "improve"):
                stills = talk.question(Plan(1, 0, kind), [])[0].stills
                shown.append([still.caption[:5] for still in stills])
    assert shown == [["`obs`", "The s"], ["`obs`"], [], []]


def test_a_small_frame_is_enlarged() -> None:
    """Its pixels stay exactly as they were."""
    frame = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    sheet = np.asarray(Image.open(io.BytesIO(enlarge(frame, 7))))
    assert sheet.shape == (40 * 7, 60 * 7, 3)
    assert np.array_equal(sheet[3::7, 3::7], frame)


def test_frames_do_not_go_with_hidden_names() -> None:
    """What hides which environment it is refuses what shows it, in one sentence."""
    with pytest.raises(UsageError, match="--frames shows which environment it is"):
        make_config(Task("CartPole-v1"), {"frames": True, "reveal": "anonymous"})
