"""The Judge Datasheet: a judge measured on controlled stimuli."""
