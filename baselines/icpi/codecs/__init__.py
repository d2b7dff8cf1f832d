"""State, action, reward and termination as lines of code, and back."""

from baselines.icpi.codecs.base import Codec, first_line
from baselines.icpi.codecs.domains import CODECS
from baselines.icpi.codecs.generic import GenericCodec, flatten

__all__ = ["CODECS", "Codec", "GenericCodec", "first_line", "flatten"]
