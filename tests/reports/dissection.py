"""Pages and cards taken apart: their tags, their markup, their text."""

from html.parser import HTMLParser

from markdown_it import MarkdownIt

from umpirical.store.yaml_files import parse_yaml

VOID = {"meta", "link", "br", "img", "input", "hr", "base"}


class Page(HTMLParser):
    """A page taken apart: its tags with their attributes' names, its attributes and its text."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.skeleton, self.attributes, self.text, self.open = [], [], "", []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.skeleton.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.skeleton.append((f"/{tag}", ()))

    def handle_comment(self, data):
        self.skeleton.append(("comment", (data,)))

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += f"{data} "


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    shares = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def taken_apart(card):
    """The front matter as read by YAML, and the tokens of the rest."""
    lines = card.split("\n")
    end = lines.index("---", 1)
    front = parse_yaml("\n".join(lines[1:end]), name="front matter").data
    parser = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
    return front, parser.parse("\n".join(lines[end + 1 :]))


def skeleton(tokens):
    return [(token.type, token.tag, [child.type for child in token.children or []]) for token in tokens]


def shape(tokens):
    """Blocks and inline markup. Where text is split by escapes is no markup; a missing digest has no code span."""
    harmless = {"text", "text_special", "softbreak"}
    blocks = skeleton(tokens)[:-2]
    return [(kind, tag, [child for child in children if child not in harmless]) for kind, tag, children in blocks]


def shown(tokens):
    return "\n".join("".join(child.content for child in token.children or []) for token in tokens)
