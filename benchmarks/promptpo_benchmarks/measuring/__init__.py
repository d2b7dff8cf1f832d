"""Instruments shared by several measurements."""
