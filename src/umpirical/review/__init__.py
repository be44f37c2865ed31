"""Review by people: who is given which item, what they decide, what it leads to, and the pages they do it on."""
