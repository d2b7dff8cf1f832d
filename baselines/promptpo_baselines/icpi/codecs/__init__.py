"""State, action, reward and termination as lines of code, and back."""

from promptpo_baselines.icpi.codecs.base import Codec, first_line
from promptpo_baselines.icpi.codecs.domains import CODECS
from promptpo_baselines.icpi.codecs.generic import flatten, generic_codec

__all__ = ["CODECS", "Codec", "first_line", "flatten", "generic_codec"]
