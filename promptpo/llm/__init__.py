"""Everything that answers prompts, behind one protocol (`promptpo.llm.base.LLM`)."""
