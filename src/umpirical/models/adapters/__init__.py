"""One adapter for each way to reach a language model. An adapter only sends."""
