"""A recorded run that `promptpo demo` replays: an environment, and the answers of a large language model."""
