"""Review by people: who is given which item, what they said of it, and what it comes to. Knows no web."""
