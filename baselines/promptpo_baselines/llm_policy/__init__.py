"""A pretrained language model as the policy network, trained by TRPO or PPO, with its two controls."""
