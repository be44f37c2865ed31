"""Study files of stress tests."""

from pathlib import Path

DECIDED = {0, 3, 4}
"""What a complete run exits with: used, refused, or too little data to say."""

PERSUADE_STUDY = """\
study: persuade
seed: 3
dataset:
  path: {data}/essays.csv
  columns:
    response: full_text
    task: assignment
    label: holistic_essay_score
    id: essay_id
    strata: [grade_level]
  scale: {{kind: ordinal, labels: ["1", "2", "3", "4", "5", "6"]}}
  positive: ["5", "6"]
  sample: {{size: {size}, by: [label]}}
instruction: {data}/instruction.txt
rubric: {data}/rubric.txt
stress:
  tests: [{tests}]
  repeats: 2
  per_level: 3
  generator: {{model: {{adapter: openai-compatible, name: {generator}, base_url: "{url}", price: free}}}}
  validator: {{model: {{adapter: openai-compatible, name: validator, base_url: "{url}", price: free}}, max_tokens: 20}}
judges:
{judges}
"""

SUITE = (
    "vertical-spacing",
    "inline-spacing",
    "indentation",
    "paraphrase",
    "verbosity-long",
    "verbosity-short",
    "stability",
    "synthetic-ordinal",
)
"""The tests of the Judge Reliability Harness paper on these essays."""


def persuade_study(
    folder: Path, data: Path, url: str, *, size=40, tests=SUITE, generator="writer", judges=None
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    judges = judges or ["word-counter", "line-counter"]
    entry = '  - name: {0}\n    model: {{adapter: openai-compatible, name: {0}, base_url: "{1}", price: free}}'
    text = PERSUADE_STUDY.format(
        data=data,
        url=url,
        size=size,
        tests=", ".join(tests),
        generator=generator,
        judges="\n".join(entry.format(name, url) for name in judges),
    )
    (folder / "umpirical.yaml").write_text(text)
    return folder
