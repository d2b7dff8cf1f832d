"""What runs inside the confinement, or in the clean process that guests are forked from."""
