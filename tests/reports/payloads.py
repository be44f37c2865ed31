"""Text that tries to be more than text, and a way to put it into every string of a record."""

import re

from pydantic import BaseModel

from umpirical.protocols.datasheet.record import Datasheet

PAYLOADS = [
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</pre></details><img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "</desc></svg><iframe srcdoc='<script>alert(1)</script>'>",
    '" onmouseover="alert(1)" x="',
    "' onfocus='alert(1)' autofocus='",
    '"><a href="javascript:alert(1)">x</a>',
    "<a href='https://evil.example/'>x</a>",
    "<img src='https://evil.example/x.png'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example><button>x</button></form>",
    "<style>body{display:none}</style>",
    "<!-- <b>",
    "--><b>x</b>",
    "<![CDATA[<b>x</b>]]>",
    "&lt;b&gt; &#60;b&#62; &amp;",
    "{{7*7}}",
    "{% for x in [1] %}{{ x }}{% endfor %}",
    "{# gone #}",
    "${7*7} #{7*7} <%= 7*7 %>",
    "safe\u202etxt.exe\u202c",
    "\u2066isolated\u2069\u200e\u200f\u061c",
    "zero\u200bwidth\u200c\u200d\u2060\ufeff",
    "tags \U000e0068\U000e0069",
    "\x1b[2J\x1b[31mred",
    "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x9b31m \x00 \x08\x08\x7f",
    "odd\u00a0spaces\u2003\u3000 \u2028line\u2029paragraph",
    "lone \ud800 surrogate \udc00",
    "a | b | c\n| d | e |",
    "x |\n\n# Heading\n\n- item",
    "\n---\n\ninjected: true\n---\n",
    '"\nformat: forged\nx: "',
    "'\n- &anchor !!python/object:os.system [x]\n",
    "judge: {a: b} # comment",
    "``` \n</pre>\n```",
    "`code` **bold** _em_ ~~gone~~ [x](javascript:alert(1)) ![x](https://evil.example/x.png)",
    "[x]: https://evil.example\n\n[x]",
    "<https://evil.example> https://evil.example www.evil.example",
    "\n    indented code\n> quote\n1. one\n===\n",
    "\\| \\` \\",
    "\t\ttabs\r\nand\rreturns",
]

HIDDEN = re.compile(
    r"[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
    r"|[\ud800-\udfff\U000e0000-\U000e0fff]"
)

_STRUCTURE = {"name", "stratum", "variant", "variants", "measure"}


def infected(record, payload, *, structure):
    """`record` with `payload` for every string that is not one of a fixed choice, keys of mappings included.

    Without `structure` what a measure is about stays, so that every chart is drawn.
    """
    tree = _replaced(record, payload, set() if structure else _STRUCTURE)
    if isinstance(record, Datasheet):
        tree["judge"]["name"] = payload
    return type(record).model_validate(tree)


def _replaced(value, payload, kept):
    if isinstance(value, BaseModel):
        return {
            name: getattr(value, name)
            if name in kept or "Literal" in repr(field.annotation)
            else _replaced(getattr(value, name), payload, kept)
            for name, field in type(value).model_fields.items()
        }
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {f"{payload}{number}": _replaced(item, payload, kept) for number, (_, item) in pairs}
    if isinstance(value, list):
        return [_replaced(item, payload, kept) for item in value]
    return payload if isinstance(value, str) else value
