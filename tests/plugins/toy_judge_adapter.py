"""A judge adapter in one file, with the judges that it is for: panels, which vote and have no `__call__`."""

from umpirical.domain.errors import UsageError
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.user_code import in_thread


class Panel:
    """A judge of some framework: members that each name the place of the better answer, or None."""

    def __init__(self, rubric, members):
        self.rubric, self.members = rubric, members

    def vote(self, question, answers):
        votes = [member(question, answers) for member in self.members]
        return max(set(votes), key=votes.count)


class PanelAdapter:
    """Puts a question to a panel. What a member raises is raised."""

    def describe(self, judge):
        return {"kind": "compare"} if isinstance(judge, Panel) else {}

    def adapt(self, judge, spec):
        if not isinstance(judge, Panel):
            raise UsageError(f"{spec.name} is a {type(judge).__name__}", fix="name a Panel")

        async def ask(shown):
            place = await in_thread(judge.vote, shown.task, [shown.first, shown.second])
            return "tie" if place is None else str(place + 1)

        return Adapted(ask, {"rubric": judge.rubric, "members": len(judge.members)})


ADAPTER = PanelAdapter()


def longest(question, answers):  # noqa: ARG001
    lengths = [len(answer) for answer in answers]
    return None if lengths[0] == lengths[1] else lengths.index(max(lengths))


def blank(question, answers):  # noqa: ARG001
    return next((place for place, answer in enumerate(answers) if answer.strip()), None)


LENIENT = Panel("the longer, the better", [longest, longest, blank])
