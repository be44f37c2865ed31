"""Texts that every perturbation is tried on."""

_ESSAY = """\
School uniforms

Many schools ask their students to wear a uniform. Some say it saves 20 minutes every morning. Others say that "nobody \
should be told what to wear". I think they are both right.

A well-known study from 1998 followed 4,000 students for two years. It found no difference in their grades... The \
students who wore a uniform were late less often. That alone doesn't prove much.

In the end, every school should decide for itself. Parents and students should have a say in it."""

_PARAGRAPH = """\
When I was nine we moved to another town, and I did not know anyone there. My mother said that friends come to those \
who wait. I waited for three weeks and nobody came. Then I asked the girl next door whether she wanted to play, and we \
have been friends for 12 years. So I believe that waiting is not enough."""

_MARKDOWN = """\
## How to water plants

Most plants need **less water** than people think. Three rules help:

- Put a finger into the soil first.
- Water only when the soil is dry.
- Use about 200 ml for a small pot.

Run `check_soil()` if you have a sensor, and see https://example.org/plants?id=7 for more.

```python
if  dry :
    water( 200 )
```
"""

ORDINARY_TEXTS = (_ESSAY, _PARAGRAPH, _MARKDOWN)
"""What people write: an essay with a title, a single paragraph, an answer in Markdown."""

AWKWARD_TEXTS = (
    "",
    " ",
    "\n\n \t\n",
    "\r\n\r\n",
    "a",
    ".",
    "- ",
    "#",
    "42",
    "!!! ??? ...",
    "First line.\r\n\r\nSecond line, with a tab\there.\r\nThird line.\rFourth line.",
    "```\nan open block\n\n    of code, with  blanks and \"quotes\" - and '...'",
    "~~~ python\nx  =  1\n~~~\nAnd then prose went on. Then it ended. That was all.",
    '{"grade": "4", "why": "It is well-known... and so on."}',
    "<p>A page. With sentences. And <b>bold</b> words - in it.</p>",
    "See www.example.org/a-b_c, https://example.org/?q=a  b and me@example.org - or C:\\temp\\a_b.",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "$a - b$ costs $5 and 5' 10\" is 1-2 more than 3 - 2 = 1...",
    "**open *marks and ** closed** marks***, `one` and ``two`, ~~three~~ \\*four\\*",
    "- - nested\n  - more\n\t* and more\n> quoted\n1. one\n2) two",
    "He said \"she said 'never'\" - and left.",
    "Zażółć gęślą jaźń. Привет мир, как дела? Γειά σου Κόσμε.",
    "これはテストです。漢字とかな、そして記号…。",
    "שלום עולם, مرحبا بالعالم.",
    "e\u0301a\u0308 ß ı İ ŉ ǰ ſ K \u0345 combining and special case",
    "👩‍👩‍👧 emoji\u200b zero\u00a0width\ufeff and\u2028separators\x85here\x0b",
    "nul \x00 and lone \ud800 surrogate",
    "{{response}} {{ task }} {% if %} %s {0} {name}",
    "x" * 2_000,
    "\n" * 500,
    " " * 500 + "end",
    "word " * 400,
)
"""Texts that break programs: nothing, blanks, code, data, links, formulas, unclosed marks and every kind of Unicode."""
