"""Commands that serve pages to a browser: review, with its subcommands, and view."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from umpirical.cli.options import StudyFlags, gathered, outside_option, study_argument, trust_option
from umpirical.cli.terminal import leading_to, need_packages, open_browser, remark, say, say_json

if TYPE_CHECKING:
    from umpirical.domain.reviews import ReviewRole
    from umpirical.protocols.protocol import Study
    from umpirical.protocols.review import ItemFeed, OpenReview
    from umpirical.protocols.writing import ReviewTerms
    from umpirical.review.exchange.transfer import Format


REVIEW_PORT = 8377
"""Always the same, so that links to a review remain valid when it is served again."""

FORMATS = ("umpirical", "argilla", "label-studio")


class _Serving(click.Group):
    """A group that serves when no sub-command is named: `umpirical review STUDY` is `umpirical review serve STUDY`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["serve", *args])


@click.group("review", cls=_Serving)
def review_command() -> None:
    """Have people review what a generator wrote: accept, edit, reject, relabel, even while it is still writing.

    umpirical review [STUDY]  serves the review of a study, and prints a link that lets you in once. For its
    options: umpirical review serve --help. For a study in a folder that is named like a subcommand, write ./status.
    """


@dataclass(frozen=True, slots=True)
class ReviewFlags:
    """The review of a study, as every review command names it."""

    study: Path
    database: str | None
    outside: bool
    trust: bool


_shared = gathered(
    "review",
    ReviewFlags,
    study_argument,
    click.option(
        "--database",
        metavar="URL",
        help="The review's: postgresql+psycopg://user@host/name. Default: $UMPIRICAL_DATABASE, or in the study.",
    ),
    trust_option,
    outside_option,
)


@dataclass(frozen=True, slots=True)
class ServerFlags:
    """Where a review is served."""

    port: int
    host: str
    expose: bool
    called: tuple[str, ...]
    no_open: bool


@review_command.command("serve")
@gathered("server", ServerFlags)
@_shared
@click.option(
    "--port", default=REVIEW_PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free port."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--expose", is_flag=True, help="Listen beyond this machine. Put TLS in front of it.")
@click.option(
    "--called", multiple=True, metavar="HOST", help="A name that browsers use for this server, such as a proxy's."
)
@click.option("--as", "owner", default="owner", show_default=True, metavar="NAME", help="Who you are in this review.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def serve_review(review: ReviewFlags, server: ServerFlags, owner: str) -> None:
    """Serve the review of STUDY to browsers on this machine. Texts appear in it as they are generated."""
    need_packages("review", "sqlalchemy", "alembic")
    from umpirical.protocols.review import review_folder
    from umpirical.review.web.app import create_app
    from umpirical.web.server import FORWARD, hosts_of, listen, serve, url_of

    loaded = _load(review)
    feed = _feed(loaded)
    fix = f"{FORWARD}, or add --expose and put TLS in front of it"
    with listen(server.host, server.port, expose=server.expose, fix=fix) as listening, ExitStack() as at_the_end:
        opened = _open(loaded, review.database)
        at_the_end.callback(opened.close)
        count = feed.into(opened.desk)
        link = f"{url_of(listening)}/join/{opened.people.invite(owner, 'owner')}"
        app = create_app(
            opened.desk,
            opened.people,
            hosts=hosts_of(listening, names=frozenset(server.called)),
            feed=lambda: feed.into(opened.desk),
            title=loaded.spec.study,
        )
        say(f"review of {loaded.spec.study}: {_arrived(count, feed.wanted)}")
        if not opened.desk.progress(owner).total:
            say(f"nothing is written yet; texts appear here once you run  umpirical generate {review.study}")
        page = None
        if not server.no_open and sys.stdout.isatty():
            page = at_the_end.enter_context(leading_to(link, review_folder(_terms(loaded))))
        serve(app, listening, ready=lambda: _open_door(link, owner, page=page))


@review_command.command("invite")
@click.argument("name")
@_shared
@click.option("--role", type=click.Choice(["reviewer", "adjudicator", "owner"]), default="reviewer", show_default=True)
@click.option("--url", default=f"http://127.0.0.1:{REVIEW_PORT}", show_default=True, help="Where the review is served.")
def invite(name: str, review: ReviewFlags, role: str, url: str) -> None:
    """Print a link that lets NAME into the review of STUDY, once. Inviting a person again makes a new link."""
    opened = _open(_load(review), review.database)
    try:
        token = opened.people.invite(name, cast("ReviewRole", role))
    finally:
        opened.close()
    remark(f"for {name}, {role}; valid once, for a day:")
    say(f"{url.rstrip('/')}/join/{token}")


@review_command.command("revoke")
@click.argument("name")
@_shared
def revoke(name: str, review: ReviewFlags) -> int:
    """Remove NAME from the review of STUDY: links and sessions end at once. Their decisions stay."""
    opened = _open(_load(review), review.database, begin=False)
    try:
        done = opened.people.revoke(name)
        known = ", ".join(person.name for person in opened.people.all())
    finally:
        opened.close()
    if not done:
        from umpirical.domain.errors import UsageError

        raise UsageError(f"unknown reviewer {name!r}", fix=f"in this review: {known or 'no one yet'}")
    say(f"{name} is removed")
    return 0


@review_command.command("status")
@_shared
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
def status(review: ReviewFlags, *, as_json: bool) -> None:
    """Show the progress of the review of STUDY, each person's decisions, how far they agree, and what was rejected."""
    from umpirical.protocols.review_record import review_status

    loaded = _load(review)
    opened = _open(loaded, review.database, begin=False)
    try:
        found = review_status(_terms(loaded), opened)
    finally:
        opened.close()
    if as_json:
        say_json(found.as_json())
        return
    for line in found.lines():
        say(line)


@review_command.command("export")
@_shared
@click.option("--format", "form", type=click.Choice(FORMATS), default="umpirical", show_default=True)
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file to write.")
def export(review: ReviewFlags, form: str, out: Path) -> None:
    """Write the review of STUDY to a file: all of it, or in the format of Argilla or Label Studio."""
    from umpirical.review.exchange.transfer import export_review
    from umpirical.store.files import write_text

    if not out.resolve().parent.is_dir():
        raise click.BadParameter(f"there is no folder {out.parent}", param_hint="--out")
    loaded = _load(review)
    opened = _open(loaded, review.database)
    try:
        _feed(loaded).into(opened.desk)
        exported = export_review(opened.desk, cast("Format", form))
    finally:
        opened.close()
    write_text(out, exported.text)
    say(f"wrote {out}: {exported.items:,} items, {exported.decisions:,} decisions")
    for note in exported.notes:
        say(f"  {note}")


@review_command.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@_shared
@click.option("--format", "form", type=click.Choice([*FORMATS, "harness"]), default="umpirical", show_default=True)
@click.option("--as", "names", multiple=True, metavar="THEIRS=NAME", help="Rename a person from the file. Repeatable.")
def import_(file: Path, review: ReviewFlags, form: str, names: tuple[str, ...]) -> None:
    """Import the decisions in FILE into the review of STUDY: all of them, or none if one does not fit.

    Known decisions are skipped, so a file can be imported again. A file of the Judge Reliability Harness
    (synthetic_TEST.csv) contains the texts that people kept there.
    """
    from umpirical.review.exchange.transfer import import_review

    loaded = _load(review)
    opened = _open(loaded, review.database)
    try:
        _feed(loaded).into(opened.desk)
        taken = import_review(opened.desk, file, cast("Format", form), names=_names(names))
    finally:
        opened.close()
    say(f"{taken.new:,} new decisions from {file.name}, {taken.known:,} already known")
    if taken.elsewhere:
        say(f"  {taken.elsewhere:,} are about texts that are not in this review: a check rejected them, or proved them")


def _names(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for entry in given:
        theirs, equals, name = entry.partition("=")
        if not equals or not theirs or not name:
            raise click.BadParameter(f"{entry!r} is not THEIRS=NAME", param_hint="--as")
        found[theirs] = name
    return found


def _load(review: ReviewFlags) -> "Study[Any]":
    study = review.study
    if not study.exists():
        from difflib import get_close_matches

        from umpirical.domain.errors import UsageError

        near = get_close_matches(str(study), review_command.commands, n=1)
        hint = f"did you mean  umpirical review {near[0]}?" if near else "name the study file, or the folder it is in"
        raise UsageError(f"there is no study {study}", fix=hint)
    return StudyFlags(study, review.outside, review.trust).load()


def _feed(study: "Study[Any]") -> "ItemFeed":
    from umpirical.protocols.protocol import WritesStimuli
    from umpirical.protocols.review import ItemFeed

    # Planning a large study again takes too long to leave a person waiting without a message.
    remark("reading what was generated")
    if not isinstance(study.protocol, WritesStimuli):
        raise WritesStimuli.missing(study.protocol)
    return ItemFeed(study.protocol.writing(study))


def _open(study: "Study[Any]", database: str | None, *, begin: bool = True) -> "OpenReview":
    from umpirical.protocols.review import open_review

    return open_review(_terms(study), named=database, begin=begin)


def _terms(study: "Study[Any]") -> "ReviewTerms":
    from umpirical.protocols.protocol import ReviewsStimuli

    if not isinstance(study.protocol, ReviewsStimuli):
        raise ReviewsStimuli.missing(study.protocol)
    return study.protocol.review(study)


def _open_door(link: str, owner: str, *, page: Path | None) -> None:
    say(f"open  {link}  (lets {owner} in, once)")
    say("others enter with a link from  umpirical review invite NAME;  Ctrl-C stops")
    sys.stdout.flush()
    open_browser(page)


def _arrived(count: int, wanted: int) -> str:
    from umpirical.reports import numbers

    return f"{count:,} new {numbers.units('text', count)}, {wanted:,} in total when everything is written"


# `umpirical view`.


VIEW_PORT = 8378


@click.command("view")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--port", default=VIEW_PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free port."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="An address of this machine alone.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--export",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a gallery of the datasheets instead, to publish: pages that need no server.",
)
def view_command(folder: Path, port: int, host: str, no_open: bool, export: Path | None) -> None:  # noqa: FBT001
    """Look at the studies in FOLDER in a browser: runs, also in progress, figures, and every trial behind them.

    FOLDER is a folder with studies, a study's own, or a run's. Nothing in it is changed, no code of a study runs, and
    nothing is sent anywhere. The server answers this machine alone.
    """
    from umpirical.view.catalogue import study_root

    root = study_root(folder)
    if export is not None:
        from umpirical.view.gallery import write_gallery

        written = write_gallery(root, export)
        for name, why in written.excluded:
            remark(f"{name} is excluded: {why}")
        say(f"wrote {written.index}: {written.pages:,} {'page' if written.pages == 1 else 'pages'}")
        return
    from umpirical.store.files import state_folder
    from umpirical.view.app import create_app
    from umpirical.web.server import hosts_of, listen, serve, url_of

    with listen(host, port, what="view") as listening, ExitStack() as at_the_end:
        app = create_app(root, hosts=hosts_of(listening))
        link = f"{url_of(listening)}/join/{app.state.view.door.token}"
        page = None
        if not no_open and sys.stdout.isatty():
            # Not in the study: it may be read-only, and nothing is written there.
            place = state_folder()
            place.mkdir(parents=True, exist_ok=True)
            page = at_the_end.enter_context(leading_to(link, place))
        serve(app, listening, ready=lambda: _announce(link, page))


def _announce(link: str, page: Path | None) -> None:
    """Prints the link once the server answers, and opens a browser with the page that leads to it."""
    say(f"open  {link}  in any browser on this machine;  Ctrl-C stops")
    sys.stdout.flush()
    open_browser(page)
