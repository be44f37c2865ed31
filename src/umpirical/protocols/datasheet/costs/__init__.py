"""What judges, readouts and juries cost, beside what they are worth."""
