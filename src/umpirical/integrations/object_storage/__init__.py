"""A run in object storage, for machines that do not share its folder."""
