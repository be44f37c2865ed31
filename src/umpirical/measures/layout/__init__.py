"""What the layout of a question does to a judge: the slot, the label, the list, the place of the tie."""
