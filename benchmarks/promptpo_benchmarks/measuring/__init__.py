"""Instruments that several measurements use."""
