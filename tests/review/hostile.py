"""Texts that break careless code."""

HOSTILE = (
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfff\udc80y",
    "\ufffe\uffff\U0010ffff",
    "\u202eevil\u202c \u2066isolated\u2069",
    "\u200b\u200c\u200d\ufeff\u00ad",
    "\U000e0041\U000e0042",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}${x}",
    "'; drop table item; --",
    "%s %(name)s :name ? $1",
    "\x1b]52;c;aGk=\x07\x1b[2J",
    '=HYPERLINK("http://example.invalid")',
    "\\u0000 \\ud800 \\x00 \\\\",
    "\r\n\t\x0b\x0c\x1c\x85\u2028\u2029",
    "e\u0301 is not \u00e9",
    "😀" * 50,
)
