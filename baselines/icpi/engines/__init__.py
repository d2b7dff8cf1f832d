"""Everything that completes prompts for ICPI, behind one protocol (`baselines.icpi.engines.base.Engine`)."""
