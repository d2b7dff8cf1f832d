"""Everything that answers prompts, behind one protocol (`promptpo.llm.base.LLM`)."""

from promptpo.llm.choose import describe_choice, make_llm, make_models

__all__ = ["describe_choice", "make_llm", "make_models"]
