"""Pages of other sites, open in the same signed-in browser, read nothing and change nothing."""

import http.server
import threading
from contextlib import contextmanager

import pytest

from . import samples
from .browsing import home_of, signed_in

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><title>elsewhere</title>
<form id="form" method="post" action="{url}/decide" target="frame">
<input name="item" value="paraphrase-0"><input name="kind" value="accept"></form><iframe name="frame"></iframe>
<img src="{url}/decide?item=paraphrase-0&kind=accept"><img src="{url}/undo"><script>
window.heard = [];
const line = new EventSource("{url}/events", {{withCredentials: true}});
line.onmessage = (event) => heard.push(event.data);
line.onopen = () => heard.push("open");
document.getElementById("form").submit();
const sent = {{method: "POST", credentials: "include", mode: "no-cors",
  body: new URLSearchParams({{item: "paraphrase-0", kind: "accept"}})}};
Promise.allSettled([
  fetch("{url}/decide", sent), fetch("{url}/undo", sent),
  fetch("{url}/", {{credentials: "include"}}).then((found) => found.text()).then((text) => heard.push(text)),
]).then(() => setTimeout(() => {{ document.title = "tried"; }}, 500));
</script>
"""


@contextmanager
def elsewhere(page):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# To a browser, another port of the machine is the same site, so it sends the cookie; another name is another site.
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_from_elsewhere_reads_and_changes_nothing(browser, served, name):
    review = served(samples.paraphrase(), samples.paraphrase(1))
    # Even a page that knows the address of the session.
    with signed_in(browser, review) as page, elsewhere(PAGE.format(url=home_of(page))) as port:
        page.keyboard.press("s")
        page.locator('#screen[data-item="paraphrase-1"]').wait_for(state="attached")
        hostile = page.context.new_page()
        answers = []
        hostile.on("response", lambda response: answers.append((response.request.method, response.status)))
        hostile.goto(f"http://{name}:{port}/")
        hostile.wait_for_function("() => document.title === 'tried'")
        assert hostile.evaluate("heard") == []
    # The test sees the answer to the form at least, which shows that requests reached the server.
    posted = [status for method, status in answers if method == "POST"]
    assert posted
    assert set(posted) == {403}
    assert [(each.kind, each.undone) for each in review.desk.decisions()] == [("skip", False)]


def test_the_review_is_not_shown_in_a_frame(browser, served):
    review = served(samples.paraphrase())
    with signed_in(browser, review) as page, elsewhere(f'<iframe src="{home_of(page)}/"></iframe>') as port:
        hostile = page.context.new_page()
        hostile.goto(f"http://127.0.0.1:{port}/")
        hostile.wait_for_timeout(500)
        assert hostile.frame_locator("iframe").get_by_text("Is the meaning unchanged?").count() == 0
