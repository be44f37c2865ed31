"""A task file as a user would write one, and a study that names it."""

from pathlib import Path

__all__ = ["FAMILY", "PARAMETERS", "SINGLE", "write_own_study"]

PARAMETERS = """\
parameters:
  - {id: ida, owner: Ida, room: attic}
  - {id: omar, owner: Omar, room: cellar}
  - {id: june, owner: June, room: pantry}
"""

FAMILY = (
    """\
id: cat-note
domain: household
prompt: >-
  Write a note for whoever looks after the cat of {owner}. It should say (1) what {owner} feeds the cat and at what
  time, and (2) where {owner} has its box and what goes into it.
"""
    + PARAMETERS
    + """\
requirements:
  - name: food
    facts:
      - check: [tuna]
        forms:
          - The cat of {owner} gets tuna for dinner.
          - Give the cat of {owner} tuna every time.
          - For {owner} a cat without tuna is unhappy.
          - Only tuna will do, as {owner} puts it.
        fillers:
          - The cat of {owner} sleeps on the sofa.
          - Give the cat of {owner} attention every time.
          - For {owner} a cat without company is unhappy.
          - Only friends will call, as {owner} puts it.
      - check: [seven]
        forms:
          - Dinner is at seven, as {owner} always says.
          - At seven the cat of {owner} is waiting.
          - Please tell {owner} if seven does not suit.
          - The clock of {owner} strikes seven for dinner.
        fillers:
          - Dinner is a joy, as {owner} always says.
          - At night the cat of {owner} is dreaming.
          - Please tell {owner} if anything does not suit.
          - The clock of {owner} ticks loudly in winter.
  - name: box
    facts:
      - check: ["{room}", box]
        forms:
          - The box stands in the {room} of {owner}.
          - In the {room} {owner} keeps the cat box.
          - Behind the {room} door {owner} put the box.
          - A box fills the {room}, as {owner} knows.
        fillers:
          - The box stands in the house of {owner}.
          - In the evening {owner} keeps the lamp lit.
          - Behind the next door {owner} grows some herbs.
          - A basket came by post, as {owner} knows.
      - check: [sand]
        forms:
          - Fresh sand goes in when {owner} is away.
          - New sand is what {owner} wants each day.
          - The old sand of {owner} leaves the house.
          - Use the sand that {owner} has bought already.
        fillers:
          - Fresh air comes in when {owner} is away.
          - New friends are what {owner} wants each day.
          - The old stairs of {owner} creak at night.
          - Use the chair that {owner} has painted already.
"""
)
"""Three tasks of one family: two requirements, two facts each."""

SINGLE = FAMILY.replace(PARAMETERS, "").replace("{owner}", "Ida").replace("{room}", "attic")
"""The same as one task, without parameters."""


def write_own_study(folder: Path, task: str, judge: str = "model: {adapter: simulated, name: careful}") -> Path:
    (folder / "own.yaml").write_text(task)
    study = f"study: own\ntasks: [own.yaml]\ndesign: {{size: screen}}\njudges:\n  - name: any\n    {judge}\n"
    (folder / "umpirical.yaml").write_text(study)
    return folder
