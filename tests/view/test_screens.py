"""The view in a real browser: what axe finds, whether the pages fit, and what a page in a sandbox can do."""

import pytest

from umpirical.view.gallery import write_gallery

from . import studies
from .serving import viewing

pytestmark = pytest.mark.browser


def pages_of(found):
    run = found.run
    [history] = [link.removeprefix(found.home) for link in found.get(run).links if "/judges/" in link]
    trials = {"trials": f"{run}/trials?family=graded", "trial": f"{run}/trials/120"}
    return {"studies": "/", "run": run, "gate": f"{run}/gate", "history": history, **trials}


def signed_in(context, found):
    name, _, value = found.cookie.partition("=")
    context.add_cookies(
        [{"name": name, "value": value, "url": f"{found.url}{found.home}/", "httpOnly": True, "sameSite": "Lax"}]
    )
    return context


# Colours differ by scheme and the layout by width, so that two of the four show everything.
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing_wrong_and_the_pages_fit(browser, standing, begun, *, tmp_path, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    problems, look = {}, {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "bypass_csp": True}
    gallery = write_gallery(standing.view.catalogue.root, tmp_path / "gallery").index
    with viewing(begun.folder.parents[1]) as live:
        seen = {name: (standing, f"{standing.url}{standing.home}{path}") for name, path in pages_of(standing).items()}
        seen |= {"live": (live, f"{live.url}{live.home}{live.run}"), "gallery": (live, gallery.as_uri())}
        for name, (found, address) in seen.items():
            context = signed_in(browser.new_context(**look), found)
            page = context.new_page()
            page.goto(address)
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            violations = Axe().run(page).response["violations"]
            problems[name] = [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in violations]
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            context.close()
    assert problems == {name: [] for name in seen}


def test_the_link_leads_in_and_every_page_is_reached_by_links(browser, measured):
    with viewing(measured.folder.parents[1], enter=False) as found:
        context = browser.new_context()
        page, complaints = context.new_page(), []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{found.url}/join/{found.token}")
        assert found.token not in page.url
        page.reload()
        second = browser.new_context().new_page()
        # As the command opens it: a private file that leads to the link.
        second.set_content(f'<meta http-equiv="refresh" content="0; url={found.url}/join/{found.token}">')
        second.get_by_role("heading", name="Studies").wait_for()
        assert second.url == page.url
        second.context.close()
        page.get_by_role("link", name="stub").first.click()
        page.get_by_role("link", name="blank answers", exact=True).click()
        page.get_by_role("combobox", name="Answer").select_option("1")
        page.get_by_role("button", name="Filter").click()
        page.wait_for_url("**position=1**")
        page.locator("table.trials tbody a").first.click()
        page.get_by_role("heading", name="Answers", exact=True).wait_for()
        assert complaints == []
        context.close()


def test_a_hostile_document_runs_nothing(browser, measured, tmp_path):
    run = studies.copied(measured, tmp_path / "parcels")
    script = "<script>document.title='fired'</script><img src=x onerror=\"document.title='fired'\">"
    refresh = "<meta http-equiv=refresh content='0;url=https://evil.example'>"
    (run / "datasheet.html").write_text(f"<!doctype html><title>quiet</title>{refresh}{script}<svg onload=1>")
    with viewing(tmp_path) as found:
        [link] = [each for each in found.get(found.run).links if "/documents/" in each]
        context, asked = signed_in(browser.new_context(), found), []
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.goto(f"{found.url}{link}")
        page.wait_for_timeout(300)
        assert page.title() == "quiet"
        assert [each for each in asked if "evil" in each] == []
        context.close()
