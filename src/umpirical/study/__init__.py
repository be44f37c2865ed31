"""Use cases: plain functions over a study folder, shared by the command line and the Python API."""
