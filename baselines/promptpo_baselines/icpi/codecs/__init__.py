"""State, action, reward and termination as lines of code, and back."""

from promptpo_baselines.icpi.codecs.base import Codec, first_line
from promptpo_baselines.icpi.codecs.domains import CODECS
from promptpo_baselines.icpi.codecs.generic import GenericCodec, flatten

__all__ = ["CODECS", "Codec", "GenericCodec", "first_line", "flatten"]
