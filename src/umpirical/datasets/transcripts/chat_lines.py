"""JSON Lines of chat messages: each line a list of messages, or an object that has them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from umpirical.datasets.transcripts.chat_messages import chat_messages, written
from umpirical.datasets.transcripts.documents import documents
from umpirical.datasets.transcripts.sources import NamedValues, TranscriptSource
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Transcript

SHOWN = 12
"""Fields that a note lists."""


def read_messages(source: TranscriptSource, note: Callable[[str], None]) -> Iterator[Transcript]:
    """Strata and columns are keys of the object, or of its `metadata`. A `.json` file is one transcript."""
    values, unread, count = NamedValues(source), Counter[str](), 0
    for place, found in documents(source):
        count += 1
        record: Mapping[str, Any] = found if isinstance(found, Mapping) else {"messages": found}
        if "messages" not in record:
            fix = "write a list of messages to a line, or an object with `messages`"
            raise ConfigError("there are no `messages`", where=place, fix=fix)
        try:
            messages, fields = chat_messages(record["messages"])
        except ValueError as error:
            fix = "write messages as OpenAI's chat API has them"
            raise ConfigError(str(error), where=place, fix=fix) from None
        unread.update(fields)
        strata, columns = values.of(_known(record), place)
        name = record.get("id")
        if messages:
            yield Transcript(messages, place if name in (None, "") else written(name), strata, columns)
        else:
            note(f"{place}: there are no messages, and it is left out")
    if count:
        values.check()
    if unread:
        listed = ", ".join(f"{name[:60]} ({number:,})" for name, number in unread.most_common(SHOWN))
        note(f"fields of messages that are not read, with the number of transcripts that have them: {listed}")


def _known(record: Mapping[str, Any]) -> dict[str, Any]:
    metadata = record.get("metadata")
    return {**(metadata if isinstance(metadata, Mapping) else {}), **record}
