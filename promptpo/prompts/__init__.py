"""Prompts: the sections of a request to a language model, their size limits and templates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext


def attach_prompts(context: SearchContext) -> SearchContext:
    """Return the context with its writer of requests and its narrator of episodes."""
    if context.learns:
        from promptpo.prompts.conversation import Conversation

        writer = Conversation(context)
        return replace(context, narrator=writer.summariser, writer=writer)
    from promptpo.prompts.feedback import BriefNarrator

    return replace(context, narrator=BriefNarrator(context.spec))
