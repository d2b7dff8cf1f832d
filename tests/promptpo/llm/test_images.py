"""Images in messages: the format of each protocol, models that get none, and files on disk."""

from __future__ import annotations

import base64
import io
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from promptpo.core.work import PICTURES, write_picture
from promptpo.errors import RunError
from promptpo.llm.base import Image, Message, accepts_images, estimate_usage
from promptpo.llm.command import CommandLLM, as_text
from promptpo.llm.ensemble import EnsembleLLM
from promptpo.llm.inbox import InboxLLM
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.llm.asking import KEY, REQUEST, Provider, ask
from tests.promptpo.llm.wire_server import Reply, WireServer


def png(shade: int, width: int = 30, height: int = 20) -> bytes:
    """A plain picture."""
    file = io.BytesIO()
    PIL.Image.fromarray(np.full((height, width, 3), shade, np.uint8)).save(file, "PNG")
    return file.getvalue()


IMAGE = Image("The worst episode, steps 0 to 9:", png(7))
OTHER = Image("The best one:", png(200))
WITH_IMAGES = replace(REQUEST, messages=(Message("user", "Write one.", (IMAGE, OTHER)),))


def parse_content(parts: Any) -> list[Any]:
    """Return a message's content in any of the three formats, with images as arrays."""
    parsed: list[Any] = []
    for part in parts:
        if "text" in part:
            parsed.append(part["text"])
            continue
        if part["type"] == "image":
            assert part["source"]["type"] == "base64"
            assert part["source"]["media_type"] == "image/png"
            data = part["source"]["data"]
        else:
            url = part["image_url"]
            url = url["url"] if isinstance(url, dict) else url
            assert url.startswith("data:image/png;base64,")
            data = url.partition(",")[2]
        parsed.append(np.asarray(PIL.Image.open(io.BytesIO(base64.b64decode(data)))))
    return parsed


def check_content(content: Any) -> None:
    """Check for the text, then each caption followed by its image."""
    text, first, worst, second, best = parse_content(content)
    assert (text, first, second) == ("Write one.", IMAGE.caption, OTHER.caption)
    assert worst.shape == (20, 30, 3)
    assert (worst.mean(), best.mean()) == (7, 200)


def test_images_are_sent_in_each_services_format(provider: Provider, server: WireServer) -> None:
    """Anthropic's messages and chat completions: the text first, then each caption with its image."""
    [completion] = ask(provider.make(), WITH_IMAGES)
    assert completion.text == "an answer"
    check_content(server.seen[0].body["messages"][-1]["content"])


def test_images_are_sent_to_the_responses_api(server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script(Reply("This model is only supported in v1/responses.", status=404))
    [completion] = ask(Provider("openai", server).make(), WITH_IMAGES)
    assert completion.text == "an answer"
    assert server.seen[1].path.endswith("/responses")
    parts = server.seen[1].body["input"][0]["content"]
    assert [part["type"] for part in parts] == [
        "input_text",
        "input_text",
        "input_image",
        "input_text",
        "input_image",
    ]
    check_content(parts)


def test_message_without_images_is_plain_text(provider: Provider, server: WireServer) -> None:
    """Every compatible server accepts that."""
    ask(provider.make())
    content = server.seen[0].body["messages"][-1]["content"]
    assert (
        content == "Write one."
        if provider.name == "openai"
        else [block["text"] for block in content] == ["Write one."]
    )


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model does not support image input."),
        (
            500,
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        ),
        (422, "messages[1].content: Input should be a valid string"),
    ],
)
def test_refused_images_are_left_out_from_then_on(
    provider: Provider, server: WireServer, caplog: pytest.LogCaptureFixture, status: int, message: str
) -> None:
    """The call is repeated without them, with one warning."""
    provider.defaults["max_retries"] = 0
    llm = provider.make()
    server.script(Reply(message, status=status))
    with caplog.at_level(logging.WARNING):
        answers = ask(llm, WITH_IMAGES)
        assert llm.capabilities.sees is False
        answers += ask(provider.make(), REQUEST)
    assert [answer.text for answer in answers] == ["an answer", "an answer"]
    [record] = caplog.records
    assert "does not accept images" in record.getMessage()
    assert "base64" not in str(server.seen[1].body)


@pytest.mark.parametrize(
    ("provider", "model", "sees"),
    [
        ("anthropic", "claude-sonnet-5-5", True),
        ("anthropic", "claude-2.1", None),
        ("openai", "gpt-6.1-sol", True),
        ("openai", "gpt-4o-mini", True),
        ("openai", "gpt-4", None),
        ("openai", "o3-mini", None),
        ("openai", "openai/gpt-5-mini", True),
        ("openai", "llama-3-8b", None),
        ("exec", "gpt-5", None),
    ],
)
def test_image_support_is_known_by_model_name(provider: str, model: str, sees: bool | None) -> None:
    """It is None for unknown models."""
    assert accepts_images(provider, model) is sees


def test_command_gets_paths_of_images(tmp_path: Path) -> None:
    """Each path follows its caption."""
    image = write_picture(IMAGE, tmp_path / PICTURES)
    request = replace(REQUEST, messages=(Message("user", "Write one.", (image,)),))
    [completion] = ask(CommandLLM("cat"), request)
    lines = completion.text.rstrip().splitlines()
    assert lines[-2] == IMAGE.caption
    assert Path(lines[-1].removeprefix("Picture: ")).read_bytes() == IMAGE.png


def test_inbox_gets_paths_of_images(tmp_path: Path) -> None:
    """The same question after a kill is recognised."""
    image = write_picture(IMAGE, tmp_path / PICTURES)
    request = replace(REQUEST, messages=(Message("user", "Write one.", (image,)),))
    inbox = InboxLLM(tmp_path / "in", run="a")
    first = inbox._question(request, as_text(request))
    assert f"{IMAGE.caption}\nPicture: {image.path}" in first.path.read_text()
    assert InboxLLM(tmp_path / "in", run="a")._question(request, as_text(request)).number == first.number


def test_images_are_written_once_per_digest(tmp_path: Path) -> None:
    """Captions make no difference."""
    folder = tmp_path / PICTURES
    first = write_picture(IMAGE, folder)
    modified = Path(first.path).stat().st_mtime_ns
    again = write_picture(replace(IMAGE, caption="other"), folder)
    assert again.path == first.path
    assert Path(first.path).stat().st_mtime_ns == modified
    assert [path.name for path in folder.iterdir()] == [f"{IMAGE.digest}.png"]
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(RunError, match="cannot write"):
        write_picture(IMAGE, blocked / PICTURES)


def test_estimated_usage_includes_images() -> None:
    """Each counts as many tokens as services charge for it."""
    in_words = estimate_usage(WITH_IMAGES.without_images(), "")
    pictures = estimate_usage(WITH_IMAGES, "").input_tokens - in_words.input_tokens
    assert pictures == 1000 * len(WITH_IMAGES.images) > 0


def test_ensemble_accepts_images_if_one_model_does() -> None:
    blind, seeing = ScriptedLLM([], name="a", sees=False), ScriptedLLM([], name="b", sees=True)
    assert EnsembleLLM([blind, seeing]).capabilities.sees is True
    assert EnsembleLLM([blind, ScriptedLLM([], name="c")]).capabilities.sees is None
