"""The latent rules that simulated judges follow, and the values that their measures should have."""
