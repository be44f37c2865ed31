"""Text as text: words, sentences, blocks, passages, languages, templates, differences. The domain is unknown here."""
