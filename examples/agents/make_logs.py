"""Runs the agents of `workplaces` as Inspect tasks, against a model on loopback, and writes a log for each category.

python make_logs.py [--only CATEGORY] [--to FOLDER]
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai.agent import AgentPrompt, AgentState, as_solver, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from tidying import tidy
from workplaces import WORKPLACES
from workplaces.workplace import Case, Workplace, next_turn

sys.path.append(str(Path(__file__).parents[2]))
from tests.servers.chat_server import ChatServer

LOGS = Path(__file__).parent / "logs"

CASES = {case.request: case for workplace in WORKPLACES.values() for case in workplace.cases}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=WORKPLACES)
    parser.add_argument("--to", type=Path, default=LOGS)
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    with ChatServer(answer) as server:
        for name in [arguments.only] if arguments.only else WORKPLACES:
            make_log(WORKPLACES[name], server, arguments.to / f"{name}.eval")


def make_log(workplace: Workplace, server: ChatServer, file: Path) -> None:
    """Runs the cases of a workplace, one after the other, and writes their log."""
    samples = [Sample(case.request, id=case.name, metadata={"category": workplace.name}) for case in workplace.cases]
    task = inspect_ai.Task(MemoryDataset(samples, name=workplace.name), solver=agent(workplace), name=workplace.name)
    model = get_model("openai-api/loopback/scripted-agent", base_url=server.base_url, api_key="none")
    with tempfile.TemporaryDirectory() as folder:
        [log] = inspect_ai.eval(
            task,
            model=model,
            log_dir=folder,
            log_format="eval",
            log_realtime=False,
            log_model_api=False,
            max_samples=1,
            display="none",
        )
        if log.status != "success":
            raise SystemExit(f"{workplace.name}: {log.error.message if log.error else log.status}")
        tidy(Path(log.location), file, address=server.base_url)


@solver
def agent(workplace: Workplace) -> Solver:
    """Inspect's own loop of an agent, at a fresh desk for each case. The user answers when the agent asks."""
    replies = {case.name: case.replies for case in workplace.cases}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        left = list(replies[str(state.sample_id)])

        async def go_on(now: AgentState) -> bool | str:
            last = now.messages[-1]
            asked = isinstance(last, ChatMessageAssistant) and not last.tool_calls
            return (left.pop(0) if left else False) if asked else True

        prompt = AgentPrompt(instructions=workplace.system, assistant_prompt=None, handoff_prompt=None)
        work = react(prompt=prompt, tools=workplace.tools(), submit=False, on_continue=go_on)
        return await as_solver(work)(state, generate)

    return solve


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the message with which the model answers a request."""
    messages = body["messages"]
    case = CASES[next(message["content"] for message in messages if message["role"] == "user")]
    said, calls = next_turn(case, messages)
    if missing := {call.tool for call in calls} - {tool["function"]["name"] for tool in body.get("tools", ())}:
        raise LookupError(f"{case.name}: not offered: {missing}")
    made = [
        {
            "id": call_id(case, messages, place),
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for place, call in enumerate(calls)
    ]
    return {"content": said or None} | ({"tool_calls": made} if made else {})


def call_id(case: Case, messages: Sequence[object], place: int) -> str:
    """Returns the same id for the same call of a case, run after run."""
    return "call_" + hashlib.sha256(f"{case.name} {len(messages)} {place}".encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
