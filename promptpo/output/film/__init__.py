"""Images of episodes.

The policy runs in the sandbox first and its actions are recorded; then a separate process, which never sees the
policy's code, repeats the episode with the same seed and actions and renders it. A renderer that hangs or crashes
therefore does no harm.
"""

from promptpo.output.film.episodes import record, trajectory_of
from promptpo.output.film.rendering import Film, RenderingError, film, has_screen, show, write_video

__all__ = ["Film", "RenderingError", "film", "has_screen", "record", "show", "trajectory_of", "write_video"]
