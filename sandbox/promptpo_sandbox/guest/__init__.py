"""Code that runs confined, or in the clean process that guests are forked from."""
