"""The quality ladder: answers that meet 0 to 5 requirements, and pairs of them."""
