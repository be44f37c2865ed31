"""Judgments to measures. One measure, one file; none of them knows how a judge is asked."""
