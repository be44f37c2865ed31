"""Starts the server, measures the judge of umpirical.yaml on it, and stops the server again."""

from umpirical.cli import main
from umpirical.testing import LlamaServer, installed_model

with LlamaServer(installed_model("smollm2"), port=8080):
    main(["run", ".", "--trust"])
