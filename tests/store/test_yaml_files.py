"""YAML 1.2, safely."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from umpirical.domain.errors import ConfigError
from umpirical.store import yaml_files
from umpirical.store.yaml_files import MAX_BYTES, dump_yaml, load_yaml, parse_yaml


@pytest.fixture(
    autouse=True, params=[yaml_files.PARSER, yaml.SafeLoader], ids=["parser", "pure parser"], scope="module"
)
def parser(request):
    """A wheel without libyaml has the parser in Python only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_files, "PARSER", request.param)
        yield request.param


@each(
    ("text", "value"),
    [
        ("[yes, no]", ["yes", "no"]),
        ("[on, off, y, n]", ["on", "off", "y", "n"]),
        ("[true, false, null]", [True, False, None]),
        ("12:30:00", "12:30:00"),
        ("1:30", "1:30"),
        ("017", 17),
        ("'1'", "1"),
        ("1", 1),
        ("[+1, -1, 0o17, 0x1F]", [1, -1, 15, 31]),
        ("[1e3, 1.5E-3, .5, 5., -.inf]", [1000.0, 0.0015, 0.5, 5.0, -math.inf]),
        ("[1_000, 0b11, 0o8, 1e, ., -a, +]", ["1_000", "0b11", "0o8", "1e", ".", "-a", "+"]),
        ("[~, Null, NULL, nUll]", [None, None, None, "nUll"]),
        ("[True, FALSE, tRUE]", [True, False, "tRUE"]),
        ("2024-01-05", "2024-01-05"),
        ("2024-13-45", "2024-13-45"),
        ("{<<: {b: 1}}", {"<<": {"b": 1}}),
        ("!!str 1", "1"),
        ("!!float 1", 1.0),
        ("! 12", "12"),
        ("!!seq [!!map {b: 1}]", [{"b": 1}]),
        ('{"b":"c","d":[1]}', {"b": "c", "d": [1]}),
        ("", None),
    ],
)
def test_plain_values_are_those_of_yaml_1_2(text, value):
    found = parse_yaml(f"a: {text}\n", name="x.yaml").data
    assert repr(found) == repr({"a": value})  # 1, 1.0 and True are equal


@each(
    ("text", "where", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3", 'duplicate key "a"'),
        ("a: 1\nb: &anchor {c: 1}\n", "x.yaml:2", "anchors and aliases are not supported"),
        ("a: 1\n\nb: *a\n", "x.yaml:3", "anchors and aliases are not supported"),
        ("# first\n%YAML 1.1\n---\na: yes\n", "x.yaml:2", "directives are not supported"),
        ("a: 1\nb: [\n", "x.yaml:3", ""),
        ("a: 1\n---\nb: 2\n", "x.yaml:2", "another document"),
        ("a: !!python/object/apply:os.system [ls]\n", "x.yaml:1", "unknown tag"),
        ("- a\n- b\n", "x.yaml:1", "expected a mapping at the top, got list"),
        ("just text\n", "x.yaml:1", "got str"),
        ("", "x.yaml:1", "got NoneType"),
        ("a:\n- &b c\n- *b\n", "x.yaml:2", "anchors and aliases are not supported"),
        ("a: 1\n? [b, c]\n: d\n", "x.yaml:2", "a key must be a single value"),
        ("a: 1\nb: !!binary aGk=\n", "x.yaml:2", "unknown tag"),
        ("a: 1\nb: !c {}\n", "x.yaml:2", "unknown tag"),
        ("%TAG ! tag:example.com,2000:\n---\na: 1\n", "x.yaml:1", "directives are not supported"),
        ("a: !!int 1.5\n", "x.yaml", "a value does not match its type"),
        ("a: " + "9" * 5_000, "x.yaml", "a value does not match its type"),
        ("a: \ud800\n", "x.yaml", "special characters"),
        ("- " * 1_000, "x.yaml", "nested too deeply"),
        ("a: !!int abc\n", "x.yaml", "a value does not match its type"),
        ("a: !!bool maybe\n", "x.yaml", "a value does not match its type"),
        ("a: \0\n", "x.yaml", "special characters"),
        ("a: " + "[" * 1_000, "x.yaml", "nested too deeply"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(text, where, message):
    with pytest.raises(ConfigError) as refused:
        parse_yaml(text, name="x.yaml")
    assert refused.value.where == where
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["a: 'R&D * 100 %'\n", "a: |\n  *bold* & 5 %\n"])
def test_signs_inside_a_text_are_no_anchors(text):
    assert "&" in parse_yaml(text, name="x.yaml").data["a"]


def test_a_large_file_is_refused_and_one_of_the_allowed_size_is_read(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: ".ljust(MAX_BYTES, "b"))
    assert len(load_yaml(path).data["a"]) == MAX_BYTES - 3
    path.write_text("a: ".ljust(MAX_BYTES + 1, "b"))
    with pytest.raises(ConfigError, match="larger than 1,000,000 bytes"):
        load_yaml(path)


def test_a_missing_file_and_one_that_is_not_utf_8_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"x\.yaml: no such file"):
        load_yaml(tmp_path / "x.yaml")
    (tmp_path / "latin.yaml").write_bytes("a: é".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"latin\.yaml: not UTF-8"):
        load_yaml(tmp_path / "latin.yaml")


@each(
    ("path", "line"),
    [
        ((), 1),
        (("study",), 2),
        (("judges",), 3),
        (("judges", 0), 4),
        (("judges", 0, "model", "adapter"), 6),
        (("judges", 1), 7),
        (("judges", 1, "name"), 7),
        (("judges", 1, "missing"), 7),
        (("judges", 7, "name"), 3),
        (("missing", "name"), 1),
    ],
)
def test_where_gives_the_line_of_an_entry_or_of_what_is_around_it(path, line):
    text = "# a study\nstudy: s\njudges:\n  - name: a\n    model:\n      adapter: x\n  - {name: b}\n"
    assert parse_yaml(text, name="s.yaml").where(path) == f"s.yaml:{line}"


def test_what_is_written_has_a_line_for_each_entry_and_lists_indented():
    data = {"no": "yes", "b": [1, {"c": None, "d": "it's\nhere"}], "e": "word " * 400 + "end", "f": {}, "g": "1"}
    lines = ["no: yes", "b:", "  - 1", "  - c:", '    d: "it\'s\\nhere"', f"e: {data['e']}", "f: {}", "g: '1'"]
    assert dump_yaml(data).splitlines() == lines


SIGNS = st.text(alphabet="ab :#-'\"\n\t,[]{}&*!|>%@`?01.eEx_~\x85\u2028\ufeffé😀", max_size=20)
WORDS = st.sampled_from(["yes", "no", "null", "~", "", "true", "1", "1e3", "0x1F", "<<", "2024-01-05", "---", "- a"])
TEXTS = SIGNS | WORDS | st.text(alphabet=st.characters(codec="utf-8"))
SCALARS = TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)


@given(
    st.dictionaries(
        TEXTS, st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=10)
    )
)
def test_what_is_written_is_read_back(data):
    found = parse_yaml(dump_yaml(data), name="x.yaml").data
    assert repr(found) == repr(data)
