"""The version of promptpo."""

__version__ = "0.1.0"
