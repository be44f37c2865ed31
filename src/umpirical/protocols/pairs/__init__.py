"""Labelled pairs: judges that compare, on the user's own pairs or on a public set of them."""
