"""The latent rules that simulated judges follow, and the values their measures should come to."""
