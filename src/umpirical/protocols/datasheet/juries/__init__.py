"""Several measured judges as one: a jury, with a datasheet of its own."""
