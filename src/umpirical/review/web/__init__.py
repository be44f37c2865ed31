"""The review screen: server-rendered pages over a desk. No logic of the review's own."""
