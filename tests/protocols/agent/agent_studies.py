"""Agent studies on runs that are written for the test."""

import json
import random

TOOLS = ("find_room", "check_price", "book_room", "send_mail", "read_notes")

LONG = "The list of rooms is long, and most of them are taken in the week that was asked for. "


def runs_of_an_agent(count, *, seed=1):
    """Runs of one agent as chat messages, some of them long, each with figures in what it says last."""
    rng = random.Random(seed)  # noqa: S311  # no secret
    for number in range(count):
        tools = rng.sample(TOOLS, 4)
        messages = [
            {"role": "system", "content": "You book rooms for the office."},
            {"role": "user", "content": f"I need a room on day {number + 1}."},
        ]
        figures = []
        for place in range(4 + 4 * (number % 3)):
            tool, figure = tools[place % len(tools)], str(rng.randrange(1_000, 10_000))
            figures.append(figure)
            result = f"{LONG if place % 2 else ''}{figure} euros"
            call = {"id": f"c{place}", "type": "function", "function": {"name": tool, "arguments": '{"q": 1}'}}
            messages += [
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{place}", "content": result},
            ]
        said = f"It comes to {figures[0]} euros, and {figures[-1]} with breakfast."
        yield {"id": f"run-{number}", "messages": [*messages, {"role": "assistant", "content": said}]}


def write_study(folder, *profiles, count=16, more="", compare=()):
    """Writes a study of simulated auditors, and its runs. Those in `compare` are judges of pairs, `compare-NAME`."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = (json.dumps(each) + "\n" for each in runs_of_an_agent(count))
    (folder / "runs.jsonl").write_text("".join(runs), encoding="utf-8")
    judges = "".join(f"  - {{name: {name}, model: {{adapter: simulated, name: {name}}}}}\n" for name in profiles)
    for name in compare:
        judges += f"  - {{name: compare-{name}, kind: compare, model: {{adapter: simulated, name: {name}}}}}\n"
    (folder / "umpirical.yaml").write_text(f"study: s\ntranscripts: {{path: runs.jsonl}}\n{more}judges:\n{judges}")
    return folder
