"""A person judges pairs of episodes on a local page while the run waits."""

from __future__ import annotations

import asyncio
import http.client
import logging
import re
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from promptpo.envs.task import Task
from promptpo.errors import RenderingError, UsageError
from promptpo.output.film import record
from promptpo.output.judging import PersonJudge
from promptpo.output.serving import ADDRESS, PageServer
from tests.promptpo.features.goals.test_goals import FENCED, SETTINGS, TO_THE_LEFT, JudgeModel
from tests.promptpo.optimizing import optimize, read_run

POLICY = "class Policy:\n    def act(self, obs):\n        return 0\n"


def ask(url: str, method: str = "GET", body: str | None = None, **headers: str) -> tuple[int, str]:
    """Send a request; return (status, text)."""
    port = int(url.rstrip("/").rpartition(":")[2])
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=100)
    connection.request(method, "/", body, headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def secret_in(text: str) -> str:
    """Return the secret that an answer to this page must contain."""
    return re.findall(r'name="secret" value="([\w-]+)"', text)[0]


@pytest.mark.parametrize("length", ["", "-1", "x", "\u00b2"])
def test_invalid_content_length_is_refused(length: str) -> None:
    """A superscript is a digit to `str.isdigit` but not to `int`."""
    with PageServer(lambda: ("", False), take=lambda *_: True) as server:
        assert ask(server.url, "POST", "x", **{"Content-Length": length})[0] == 400


@pytest.mark.slow
def test_pair_is_shown_and_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Films have neither names nor returns. Answers need the page's secret, a valid word and the local host name."""
    monkeypatch.setattr("promptpo.output.judging.FRAMES", 2)
    task = Task("CartPole-v1")
    episodes = record(task, POLICY, [0, 1], horizon=20).episodes
    seen: dict[str, Any] = {}

    def person(url: str) -> None:
        status, text = ask(url)
        while "secret" not in text:
            status, text = ask(url)
        seen["page"] = (status, text)
        good = {"secret": secret_in(text), "word": "2"}
        seen["guess"] = ask(url, "POST", urlencode({**good, "secret": "guessed"}))[0]
        seen["word"] = ask(url, "POST", urlencode({**good, "word": "3"}))[0]
        seen["host"] = ask(url, "POST", urlencode(good), Host="example.org")[0]
        seen["long"] = ask(url, "POST", "x" * 2000)[0]
        seen["good"] = ask(url, "POST", urlencode(good))[0]
        seen["again"] = ask(url, "POST", urlencode(good))[0]

    async def work() -> str:
        with PersonJudge(task, "stand <still>", {}) as judge:
            thread = threading.Thread(target=person, args=(judge.url,))
            thread.start()
            found = await judge.ask(1, 3, ("a", episodes[0]), ("b", episodes[1]))
            await asyncio.to_thread(thread.join)
            return found

    assert asyncio.run(work()) == "second"
    status, text = seen.pop("page")
    assert seen == {"guess": 409, "word": 409, "host": 421, "long": 400, "good": 303, "again": 409}
    assert status == 200
    assert "stand &lt;still&gt;" in text
    assert "pair 1 of 3" in text
    assert text.count("data:image/png;base64,") >= 2
    assert "Observations and actions" in text
    assert caplog.messages[0].endswith("(3 pairs)")


class FakePerson(logging.Handler):
    """Finds the page and always prefers the longer episode."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Start to answer once the page is announced."""
        found = re.search(r"http://\S+/", record.getMessage())
        if found:
            threading.Thread(target=self.answer, args=(found[0],), daemon=True).start()

    def answer(self, url: str) -> None:
        """Answer all pairs."""
        last = ""
        try:
            while True:
                time.sleep(0.02)
                _, text = ask(url)
                if "secret" in text and secret_in(text) != last:
                    last = secret_in(text)
                    steps = [int(n) for n in re.findall(r"(\d+) steps?;", text)]
                    word = "=" if steps[0] == steps[1] else "1" if steps[0] > steps[1] else "2"
                    ask(url, "POST", urlencode({"secret": last, "word": word}))
                    self.pairs += 1
        except OSError:
            return  # the page is closed after the last pair


@pytest.mark.slow
def test_person_judges_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is asked for preferences. Without a renderer, the page lists observations and actions."""

    def nothing(*_: object, **_options: object) -> None:
        raise RenderingError("there are no pictures here")

    monkeypatch.setattr("promptpo.output.judging.film", nothing)
    model, person = JudgeModel({"goal.reward": FENCED, "goal.policy": TO_THE_LEFT}), FakePerson()
    judging = logging.getLogger("promptpo.output.judging")
    judging.addHandler(person)
    try:
        run = optimize(model, tmp_path / "run", judge="me", **SETTINGS)
    finally:
        judging.removeHandler(person)
    assert "goal.pairs.before" not in model.asked()
    events = read_run(run.directory)
    answers = [event for event in events["decision"] if event.key.startswith("before.")]
    assert len(answers) == person.pairs == 8
    found = next(event for event in events["preference"] if event.key == "before")
    assert len(found.data["pairs"]) == 8
    assert run.data["goal"]["asked"] == "yes"


def test_judge_me_requires_a_goal(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--judge me requires --goal"):
        optimize(JudgeModel({}), tmp_path / "run", judge="me", **{**SETTINGS, "goal": ""})
