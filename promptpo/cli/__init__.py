"""The command line; see `promptpo.cli.app`."""
