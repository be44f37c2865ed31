"""A report section in one file: who answered, on the page and the card of every protocol."""

from umpirical.measures.catalogue import EVERY_PROTOCOL
from umpirical.reports.pages import Section, plain

SECTION = Section(
    "who-answered",
    (EVERY_PROTOCOL,),
    source="""<section id="who-answered"><h2>Who answered</h2>
<ul>{% for name in view.names %}<li>{{ name }}</li>{% endfor %}</ul></section>
""",
    view=lambda records: {"names": [name for record in records for name in record.judge.served_by] or ["nobody"]},
    card=lambda record: [f"- Answered by: {plain(', '.join(record.judge.served_by))}"],
)
