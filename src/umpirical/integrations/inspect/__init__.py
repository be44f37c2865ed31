"""Inspect AI as the host: its command asks the judge, its logs hold the answers, its viewer shows them."""
