"""Agent judges: transcripts under a policy, unchanged and edited so that one rule is violated."""
