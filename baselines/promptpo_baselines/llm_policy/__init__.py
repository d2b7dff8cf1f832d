"""A pretrained language model as the policy network, trained by TRPO or PPO, and its two controls."""
