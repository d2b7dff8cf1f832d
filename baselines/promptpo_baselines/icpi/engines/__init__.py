"""Everything that completes prompts for ICPI, behind one protocol (`promptpo_baselines.icpi.engines.base.Engine`)."""
