"""Serves SmolLM2 and measures the judge of umpirical.yaml on it. The server ends with this program."""

from serve import read_options, smollm2, start

from umpirical.cli import main

server = start(smollm2(), read_options(["--port=8080"]))
main(["run", ".", "--trust"])
