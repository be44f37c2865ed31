"""From foreign data to items: strict about types, within limits, and with line numbers in every error."""
