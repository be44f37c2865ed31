"""What exists: the records on the one path from items to measures. Standard library only."""
