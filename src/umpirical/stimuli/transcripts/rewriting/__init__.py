"""Transcripts that language models rewrite: planned, edited message by message, checked, and verified or dropped."""
