"""Foreign data to items: strict about types, bounded, with line numbers in its errors."""
