"""Design (what to ask) and executors (how)."""
