"""What policies written by a language model are compared with: PPO, TRPO, SAC, and a language model as the network."""
