"""Task files as a user would write them, of both formats, and a study that names one."""

from pathlib import Path

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
"""Three tasks of one family with fillers: two requirements, two facts each."""

SINGLE = FAMILY.replace(PARAMETERS, "").replace("{owner}", "Ida").replace("{room}", "attic")
"""The same as one task, without parameters."""


CROSSED_SETS = """\
parameters:
  - {id: ida, owner: Ida, room: attic, meal: seven, days: nine}
  - {id: omar, owner: Omar, room: cellar, meal: eight, days: twelve}
  - {id: june, owner: June, room: pantry, meal: six, days: fifteen}
"""


def _requirement(name: str, about: str, *facts: tuple[str, str, str, str]) -> str:
    """Four facts: what asks for each, what is looked for, and two forms."""
    lines = [f"  - name: {name}", f"    about: {about}", "    facts:"]
    for asks, check, *forms in facts:
        lines += [f"      - asks: {asks}", f"        check: {check}", "        forms:"]
        lines += [f"          - {form}" for form in forms]
    return "\n".join(lines) + "\n"


CROSSED = (
    """\
id: cat-note
domain: household
context: >-
  {owner} is away for {days} days. Meals are at {meal}, and whatever the cat needs is in the {room}.
request: Write a note for whoever looks after the cat of {owner}. Say
givens: [meal, days]
"""
    + CROSSED_SETS
    + "requirements:\n"
    + _requirement(
        "food",
        "its food",
        (
            "which kind",
            "[tuna]",
            "The cat of {owner} gets tuna for dinner.",
            "Give the cat of {owner} tuna every time.",
        ),
        (
            "which hour",
            '["{meal}"]',
            "Dinner is at {meal}, as {owner} always says.",
            "At {meal} the cat of {owner} is waiting.",
        ),
        (
            "which bowl",
            "[green]",
            "The green one is what {owner} would fill.",
            "For {owner} a green dish is just right.",
        ),
        (
            "what to drink",
            "[water]",
            "Fresh water is there whenever {owner} is out.",
            "Of water {owner} would never give too little.",
        ),
    )
    + _requirement(
        "box",
        "its box",
        (
            "what place",
            '["{room}", stands]',
            "It stands in the {room} of {owner} now.",
            "Beside the {room} door of {owner} it stands.",
        ),
        (
            "what filling",
            "[sand]",
            "Fresh sand goes in when {owner} is away.",
            "New sand is what {owner} wants each day.",
        ),
        (
            "how long",
            '["{days}"]',
            "For {days} whole days {owner} will not clean.",
            "After {days} days {owner} cleans it once more.",
        ),
        (
            "what tool",
            "[scoop]",
            "Use the scoop that {owner} has bought already.",
            "The scoop of {owner} hangs on a nail.",
        ),
    )
)
"""Three tasks of one crossed family: two requirements, four facts each, two of which are figures."""

CROSSED_SINGLE = (
    CROSSED.replace(CROSSED_SETS, "")
    .replace("{owner}", "Ida")
    .replace("{room}", "attic")
    .replace("{meal}", "seven")
    .replace("{days}", "nine")
    .replace("givens: [meal, days]\n", "")
)
"""The same as one task, without parameters."""


def write_own_study(folder: Path, task: str, judge: str = "model: {adapter: simulated, name: careful}") -> Path:
    (folder / "own.yaml").write_text(task)
    ladder = "" if "\ncontext:" in task else ", graded: filler"
    study = f"study: own\ntasks: [own.yaml]\ndesign: {{size: screen{ladder}}}\njudges:\n  - name: any\n    {judge}\n"
    (folder / "umpirical.yaml").write_text(study)
    return folder
