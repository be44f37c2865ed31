"""What a browser does for pages of other sites, and for people who do not, or no longer, take part."""

import pytest

from tests.browsing import ARGUMENTS, CHROMIUM
from tests.review.web import samples
from tests.review.web.browsing import home_of, sign_in, signed_in
from tests.review.web.serving import serving
from tests.review.web.test_other_sites import elsewhere
from umpirical.review.records import ReviewChoice

pytestmark = pytest.mark.browser

# Every way for a page to send a request without a click. What it can read is collected in `heard`.
ATTACKS = """<!doctype html><title>elsewhere</title><body><script>
window.heard = [];
const url = {url!r}, origin = {origin!r}, token = {token!r};
const fields = {{item: "paraphrase-0", kind: "accept", name: "ana"}};
const body = () => new URLSearchParams(fields);
const at = (path) => (path.startsWith("/join") ? origin : url) + path;
const hear = (name) => (what) => heard.push(name + ": " + what);
for (const path of ["/decide", "/undo", "/settle", "/revoke", "/join/" + token]) {{
  navigator.sendBeacon(at(path), body());
  for (const mode of ["no-cors", "cors"]) {{
    fetch(at(path), {{method: "POST", mode, credentials: "include", keepalive: true, body: body()}})
      .then((found) => found.type === "opaque" ? 0 : hear(path)(found.status)).catch(() => 0);
  }}
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-forms allow-scripts";
  const inputs = Object.entries(fields).map(([name, value]) => `<input name=${{name}} value=${{value}}>`).join("");
  const send = "<script>document.forms[0].submit()<\\/script>";
  frame.srcdoc = `<form method=post action="${{at(path)}}">${{inputs}}</form>${{send}}`;
  document.body.append(frame);
}}
for (const path of ["/", "/item/paraphrase-0", "/people", "/join/" + token, "/decide?item=paraphrase-0&kind=accept"]) {{
  const image = new Image();
  image.onload = () => hear(path)("image");
  image.src = at(path);
  for (const [tag, key] of [["script", "src"], ["link", "href"], ["iframe", "src"]]) {{
    const one = document.createElement(tag);
    if (tag === "link") one.rel = "stylesheet";
    one[key] = at(path);
    one.onload = () => {{ try {{ hear(path)(one.contentDocument.body.textContent); }} catch {{ }} }};
    document.body.append(one);
  }}
}}
const socket = new WebSocket(url.replace("http", "ws") + "/events");
socket.onopen = () => hear("socket")("open");
const line = new EventSource(url + "/events", {{withCredentials: true}});
line.onopen = () => hear("line")("open");
line.onmessage = (event) => hear("line")(event.data);
fetch(url + "/", {{credentials: "include"}}).then((found) => found.text()).then(hear("read")).catch(() => 0);
setTimeout(() => {{ document.title = "tried"; }}, 1500);
</script>"""


@pytest.fixture
def review(tmp_path):
    """Two items: ana, who is also an owner, has decided on one and has the other open."""
    with serving(tmp_path, [samples.paraphrase(), samples.paraphrase(1)]) as found:
        found.session("ana", "owner")
        found.desk.next("ana")
        found.desk.decide("ana", "paraphrase-0", ReviewChoice("reject", reason="other"))
        found.desk.next("ana")
        yield found


def state(review):
    people = [(each.name, each.revoked) for each in review.people.all()]
    return list(review.desk.decisions()), people


# To a browser, another port is the same site, so it sends the cookie; another name is another site.
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_gets_nowhere(browser, review, name):
    link = review.people.invite("ben", "reviewer")
    before = state(review)
    # Even a page that knows the address of the session.
    with (
        signed_in(browser, review, name="ana", role="owner") as page,
        elsewhere(ATTACKS.format(url=home_of(page), origin=review.url, token=link)) as port,
    ):
        hostile, answers = page.context.new_page(), []
        hostile.on("response", lambda one: answers.append((one.request.method, one.status)))
        hostile.goto(f"http://{name}:{port}/")
        hostile.wait_for_function("() => document.title === 'tried'")
        heard = hostile.evaluate("() => heard")
    # To the page that holds it, a refused frame is an empty document.
    assert [each for each in heard if not each.endswith(": ")] == []
    assert {status for method, status in answers if method == "POST"} <= {403}
    assert state(review) == before
    # The link was opened, but not used up.
    assert review.people.redeem(link) is not None


def test_a_name_that_is_made_to_lead_here_is_refused(browser, review):
    """DNS rebinding: another site's name resolves to our server, so the browser sees a single origin."""
    port = review.host.rpartition(":")[2]
    arguments = [*ARGUMENTS, "--host-resolver-rules=MAP evil.example 127.0.0.1"]
    before = state(review)
    rebound = browser.browser_type.launch(executable_path=str(CHROMIUM), args=arguments)
    try:
        context = rebound.new_context()
        home = sign_in(context, review, "ana", "owner").replace("127.0.0.1", "evil.example")
        [kept] = context.cookies()
        context.add_cookies([kept | {"domain": "evil.example"}])
        page = context.new_page()
        for path in ("/", "/people", "/events"):
            answer = page.goto(home + path)
            assert answer.status == 400
            assert "warehouse" not in answer.text()
        for path in ("/", "/static/review.js", "/join/abc"):
            answer = page.goto(f"http://evil.example:{port}{path}")
            assert answer.status == 400
            assert "warehouse" not in answer.text()
        sent = page.evaluate(
            """(home) => fetch(`${home}/decide`,
              {method: "POST", body: new URLSearchParams("item=paraphrase-1&kind=accept")})
            .then((found) => found.status)""",
            home,
        )
        assert sent == 400
    finally:
        rebound.close()
    assert state(review) == before


def test_nobody_is_told_nothing(browser, review):
    with signed_in(browser, review, name="") as page:
        assert page.get_by_role("heading", level=1).inner_text() == "You are not signed in"
        assert "warehouse" not in page.content()
        for path in ("/people", "/adjudicate", "/item/paraphrase-0"):
            assert page.goto(f"{review.url}/s/0123456789abcdef{path}").status == 401


def test_a_thief_is_out_at_the_next_key(browser, review):
    """The session was copied. The owner revokes it in a browser while the thief has an item open."""
    review.session("olga", "owner")
    with (
        signed_in(browser, review, name="ana", role="owner") as page,
        signed_in(browser, review, name="olga", role="owner", path="/people") as owner,
    ):
        stolen = browser.new_context()
        stolen.add_cookies(page.context.cookies())
        thief = stolen.new_page()
        thief.goto(f"{home_of(page)}/")
        assert thief.locator("#screen").get_attribute("data-item") == "paraphrase-1"
        owner.get_by_role("button", name="End access of ana").click()
        owner.get_by_role("row", name="ana").get_by_text("ended").wait_for()
        thief.keyboard.press("a")
        thief.get_by_text("You are not signed in").first.wait_for()
        thief.goto(f"{home_of(page)}/item/paraphrase-0")
        assert "warehouse" not in thief.content()
        stolen.close()
    assert [each.kind for each in review.desk.decisions()] == ["reject"]


def test_a_link_that_was_revoked_opens_nothing(browser, review):
    link = review.people.invite("ben", "reviewer")
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{review.url}/join/{link}")
    review.people.revoke("ben")
    page.get_by_role("button", name="Start reviewing").click()
    page.get_by_role("heading", name="This link does not work").wait_for()
    assert context.cookies() == []
    context.close()
