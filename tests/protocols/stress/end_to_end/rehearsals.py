"""Studies that are rehearsed: the generator, the validator and the judges are simulated."""

from pathlib import Path

TOWNS = ["Ayr", "Bath", "Cork", "Deal", "Eton", "Ford", "Hove", "Ives", "Kent", "Leek", "Mold", "Ryde"]

THINGS = ["harbour", "library", "orchard", "railway", "theatre", "workshop", "market", "garden"]

STUDY = """\
study: notes
seed: 5
dataset:
  path: notes.csv
  columns: {{response: text, task: task, label: grade, id: id{columns}}}
  scale: {{kind: ordinal, labels: ["1", "2", "3", "4"]}}
{dataset}
rubric: rubric.txt
stress:
  generator: {{model: {{adapter: simulated-writer, name: generator, model_args: {{{generator}}}}}}}
  validator: {{model: {{adapter: simulated-writer, name: validator, model_args: {{{validator}}}}}}}
{stress}
judges:
  - {{name: sound, model: {{adapter: simulated, name: sound-examiner}}}}
{more}
"""


def note(number: int) -> str:
    """A text of some sixty words; no two are alike."""
    town, thing = TOWNS[number % len(TOWNS)], THINGS[number * 5 % len(THINGS)]
    other = THINGS[(number * 5 + 3) % len(THINGS)]
    return (
        f"I think that the {thing} of {town} should stay open in the evening for all of us. In {1900 + number} the "
        f"people of {town} asked for it, and since then the {other} has been there for those who work all day.\n\n"
        f"It would cost more to close the {thing} than to keep it, because the {other} next to it needs the same light "
        f"and the same heat. That is why we want it, and why we ask you to decide for it this year."
    )


def notes_study(
    folder: Path, *, stress="", generator="", validator="", dataset="", columns="", more="", rows=24
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f'n{n},"{note(n)}",Write to the council about number {n % 6}.,{1 + n % 4}' for n in range(rows)]
    (folder / "notes.csv").write_text("\n".join(["id,text,task,grade", *lines, ""]))
    (folder / "rubric.txt").write_text("4: reasons and facts. 3: reasons. 2: a wish. 1: nothing.\n")
    text = STUDY.format(
        stress=stress, generator=generator, validator=validator, dataset=dataset, columns=columns, more=more
    )
    (folder / "umpirical.yaml").write_text(text)
    return folder
