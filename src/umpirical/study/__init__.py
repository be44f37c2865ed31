"""Use cases: plain functions over a study folder, the same for every face."""
