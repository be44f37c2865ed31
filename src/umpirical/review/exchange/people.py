"""The people of a file, and who they are here."""

from collections.abc import Iterable, Mapping

from umpirical.review.exchange.json_files import BadLine
from umpirical.review.people import name_key


class FilePeople:
    """Names in a file to names in this review. Names that differ only in case are one person.

    A file can be written by anyone, in anyone's name. So it speaks for a person who takes part here only if whoever
    imports it says so, by naming them.
    """

    def __init__(self, names: Mapping[str, str], *, members: Iterable[str], decided: Iterable[str]) -> None:
        here = {name_key(name): name for name in members}
        self._named = dict(names)
        self._members = frozenset(here)
        self._known = {name_key(name): name for name in decided} | here

    def name_of(self, theirs: str) -> str:
        """The name here of a person in the file."""
        name = self._named.get(theirs, theirs)
        return self._known.setdefault(name_key(name), name)

    def check_may_speak(self, theirs: str, place: str) -> None:
        """Raises BadLine for a new decision of someone who takes part here, unless they were named."""
        name = self.name_of(theirs)
        if theirs not in self._named and name_key(name) in self._members:
            raise BadLine(
                place,
                f"a decision of {name}, who takes part in this review and would have made it here",
                fix=f"nothing was imported; if it is theirs, import with: --as {theirs}={name}",
            )
