"""How a server may write down a key that it was sent."""

import base64
import json
import urllib.parse


def spellings(key):
    """Every spelling by its name."""
    raw = key.encode()
    return {
        "as it is": key,
        "in capitals": key.upper(),
        "in an address": urllib.parse.quote(key, safe=""),
        "all of it in an address": "".join(f"%{code:02X}" for code in raw),
        "twice in an address": "".join(f"%25{code:02x}" for code in raw),
        "in base64": base64.b64encode(raw).decode(),
        "in base64 with a word before": base64.b64encode(b"Bearer " + raw).decode(),
        "in base64 with a name before": base64.b64encode(b"ab:" + raw + b"xy").decode(),
        "in base64 for addresses": base64.urlsafe_b64encode(b"u:" + raw).decode(),
        "in base64 with line breaks": base64.encodebytes(raw * 3).decode(),
        "in hexadecimal": raw.hex(),
        "in hexadecimal with colons": raw.hex(":").upper(),
        "in JSON": "".join(f"\\u{code:04x}" for code in raw),
        "in JSON twice": "".join(f"\\\\u{code:04x}" for code in raw),
        "in a source": "".join(f"\\x{code:02x}" for code in raw),
        "in another source": "".join(f"\\u{{{code:x}}}" for code in raw),
        "in a page": "".join(f"&#{code};" for code in raw),
        "in a page, hexadecimal": "".join(f"&#x{code:X};" for code in raw),
        "in a mail": "".join(f"={code:02X}" for code in raw),
        "with blanks": " ".join(key),
        "with line breaks": "\n".join(key),
        "with escaped line breaks": "\\n".join([key[:9], key[9:20], key[20:]]),
        "with invisible signs": "\u200b".join(key),
        "with invisible signs in JSON": json.dumps("\u200b".join(key))[1:-1],
        "in UTF-16": raw.decode().encode("utf-16-le").decode("latin-1"),
        "as a list of signs": json.dumps(list(key)),
        "from behind": key[::-1],
        "its beginning": key[:20],
        "its end": key[12:],
    }
