"""Regret curves of ICPI and what it is compared with, its acceptance table, and what each profile costs."""
