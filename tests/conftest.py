"""What all tests share: the examples of property tests are the same in every run, unless new ones are wanted."""

import os
import tempfile

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
# the key that signs runs is this session's own: nothing is written to the home of who runs the tests
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="promptpo-state-")

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
