"""Providers that answer prompts, behind the protocol `promptpo.llm.base.LLM`."""
