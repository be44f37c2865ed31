"""Writes a study of labelled pairs to start from, on the user's own file."""

from collections.abc import Iterator
from pathlib import Path

from umpirical.datasets.guess import profile_columns
from umpirical.datasets.pairs import PairDatasetSpec, ReadPairs, read_pairs
from umpirical.protocols.pairs.policy import PairsPolicy
from umpirical.protocols.protocol import NewStudy
from umpirical.protocols.start import new_study_file, path_from, scalar, study_name
from umpirical.stats.intervals import wilson
from umpirical.store.files import write_text

PAIRS_STUDY = """\
# Judges that compare, on labelled pairs.  umpirical schema config  lists every key.
study: {name}
seed: 1

# {rows:,} rows, {pairs:,} labelled pairs of {prompts:,} prompts
dataset:
  path: {path}
  columns:
{columns}
{sample}

# Changes of form that a program makes in one answer of a pair, and proves to be nothing more.
edits: [inline-spacing, markdown-or-plain]
sides: [chosen, rejected]

# What is asked of a judge before it is used.
policy: {{accuracy: {policy.accuracy}, same_slot: {policy.same_slot}, changes: {policy.changes}}}

design:
  repeats: 1    # 2 or more show the judge's own noise, which is then taken off what edits change

judges:
  # A simulated judge: needs no key and no network, and says nothing about yours.
  - name: rehearsal
    kind: compare
    model: {{adapter: simulated, name: careful}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   kind: compare
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   decoding: {{temperature: 0, max_tokens: 256}}

concurrency: 16
"""

SAMPLE = 200
"""Number of pairs: enough for a sound judge to pass every limit, and few enough to be cheap."""

MOST_NEEDED = 100_000
"""Pairs beyond which a limit is as good as out of reach."""

RIGHT, POSITIONAL, SWAYED = 0.93, 0.03, 0.01
"""A judge that is clearly better than the limits: right in both orders, with the same slot in both, with verdicts that
harmless edits change."""

SOUND_WORDS = "right about 93 % of the pairs, follows the slot in 3 % and edits in 1 %"


def are_pairs(data: Path) -> bool:
    """Whether a file holds labelled pairs, by the names of its columns."""
    if not data.is_file() or data.suffix.lower() not in (".csv", ".jsonl", ".ndjson", ".parquet", ".pq"):
        return False
    return {"chosen", "rejected"} <= {profile.name.casefold() for profile in profile_columns(data)}


def start_pairs_study(folder: Path, data: Path) -> NewStudy:
    """Writes a study of the pairs in `data` that runs as is. No existing file is overwritten."""
    file = new_study_file(folder)
    read = read_pairs(PairDatasetSpec(path=str(data.resolve())), folder)
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = PAIRS_STUDY.format(
        name=scalar(study_name(folder)),
        rows=read.rows,
        pairs=len(read.pairs),
        prompts=len({pair.cluster for pair in read.pairs}),
        path=scalar(path_from(folder, data)),
        columns="\n".join(f"    {line}" for line in _columns(read)),
        sample=_sample(read),
        policy=PairsPolicy(),
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
    return NewStudy(file, (file,), tuple(_notes(read)), "--outside" if outside else "")


def pairs_needed(policy: PairsPolicy) -> int | None:
    """Returns the fewest pairs with which a sound judge is shown to keep every limit; None if it does not keep them."""
    if policy.accuracy >= RIGHT or policy.same_slot <= POSITIONAL or policy.changes <= SWAYED:
        return None

    def enough(pairs: int) -> bool:
        return (
            wilson(RIGHT * pairs, pairs)[0] >= policy.accuracy
            and wilson(POSITIONAL * pairs, pairs)[1] <= policy.same_slot
            and wilson(SWAYED * pairs, pairs)[1] <= policy.changes
            # Each pair takes two calls at least, all of which have a verdict.
            and wilson(0, 2 * pairs)[1] <= policy.without_verdict
        )

    return next(filter(enough, range(2, MOST_NEEDED)), None)


def _columns(read: ReadPairs) -> Iterator[str]:
    for role, column in read.columns.items():
        if role == "strata":
            yield f"strata: [{scalar(column)}]"
        elif role != "id":
            yield f"{role}: {scalar(column)}"
    yield "# cluster: COLUMN   # rows that share its value are not independent; by default those of one prompt"


def _sample(read: ReadPairs) -> str:
    by = f", by: [{scalar(read.columns['strata'])}]" if "strata" in read.columns else ""
    if read.rows <= SAMPLE:
        return f"  # sample: {{size: {SAMPLE}{by}}}   # there are few rows, so all of them are used"
    return f"  sample: {{size: {SAMPLE}{by}}}"


def _notes(read: ReadPairs) -> Iterator[str]:
    """Yields what was taken for what, so that the user can correct it."""
    yield f"{read.rows:,} rows, {len(read.pairs):,} labelled pairs; columns by their names:"
    yield from (f"  {role:9} {column}" for role, column in read.columns.items())
    yield from (f"  {count:,} rows left out: {reason}" for reason, count in read.left_out.items())
