"""Text as text: templates, words, sentences, layout and differences. Nothing here knows a type of the domain."""
