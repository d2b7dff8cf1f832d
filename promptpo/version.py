"""The version of promptpo."""

__version__ = "0.2.0"
