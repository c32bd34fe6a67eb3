"""The page in a real browser: Debian's Chromium and its driver, on every server.

The pictures in `docs/assets` are this test's: `PYQUEUE_SCREENSHOTS=docs/assets` writes them.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from pyqueue_sql.web import watch, web_app

if TYPE_CHECKING:
    from tests.conformance.harness import Harness, Session

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
PATIENCE_S = 30
TOKEN = "open-sesame-0123"
HOSTILE = "<img src=x onerror=\"document.title='taken'\">"
LEFT_OUT = "LEFT OUT, no page was tried in a browser: there is no chromium, or no chromedriver"
PICTURES = os.environ.get("PYQUEUE_SCREENSHOTS")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=LEFT_OUT),
]


class Browser:
    """Chromium at a page.

    Args:
        driver: of Selenium.
        address: where the page is served.
    """

    def __init__(self, driver: webdriver.Chrome, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, path: str) -> None:
        self.driver.get(self.address + path)
        # under emulation the driver comes back before the style is there
        self.until(lambda: self.driver.execute_script("return document.readyState") == "complete")

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str = "main") -> str:
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def press(self, *keys: str) -> None:
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self) -> Any:
        return self.driver.switch_to.active_element

    def until(self, condition: Any) -> None:
        WebDriverWait(self.driver, PATIENCE_S).until(lambda _: condition())

    def click(self, selector: str) -> None:
        """Click, and wait for the next page."""
        old = self.driver.find_element(By.TAG_NAME, "html")
        self.driver.find_element(By.CSS_SELECTOR, selector).click()
        self.until(lambda: _is_gone(old))

    def emulate(self, width: int, height: int, scheme: str) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def picture(self, name: str) -> None:
        if PICTURES:
            self.driver.save_screenshot(str(Path(PICTURES) / f"web-{name}.png"))

    def complaints(self) -> list[str]:
        """What the browser has to say of the pages so far: errors of scripts, and what the policy refused."""
        return [one["message"] for one in self.driver.get_log("browser") if one["level"] == "SEVERE"]


def _is_gone(element: Any) -> bool:
    try:
        element.is_enabled()
    except Exception:
        return True
    return False


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application in a thread; gives its address."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


@pytest.fixture
def browser(harness: Harness, tmp_path: Path) -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with served(web_app(harness.url, actions=True, token=TOKEN)) as address:
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        try:
            yield Browser(driver, address)
        finally:
            driver.quit()


def furnish(queue: Session) -> None:
    queue.define("mail", history_seconds=86400)
    letters = [{"key": f"welcome/{n}", "payload": {"to": f"user{n}@example.org"}} for n in range(240)]
    queue.push_many("mail", letters)
    queue.push_many("reports", [{"key": f"r{n}", "delay_seconds": 60 * n + 60} for n in range(30)])
    queue.push_many("thumbnails", [{"key": f"img/{n:05}.png", "payload": n} for n in range(70)])
    for message in queue.reserve("mail", "mailer-1", 40):
        queue.ack(message.receipt)
    for message in queue.reserve("mail", "mailer-1", 5):
        queue.nack(message.receipt, error="SMTPRecipientsRefused: 550 5.1.1 no such user", final=True)
    queue.reserve("thumbnails", "imager-2", 20)
    queue.group("night", "reports", {"of": "the night"})
    queue.push_many("render", [{"key": f"part-{n}", "group": "night"} for n in range(9)])
    for message in queue.reserve("render", "imager-2", 5):
        queue.ack(message.receipt)
    queue.schedule("nightly", "reports", every_seconds=86400)
    queue.heartbeat("mailer-1", kinds=["mail"], timeout_seconds=3600)
    queue.heartbeat("imager-2", timeout_seconds=3600)


def test_a_person_finds_what_is_wrong_and_mends_it(
    browser: Browser, queue: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "REST_S", 0.2)
    furnish(queue)
    browser.emulate(1200, 800, "light")
    browser.open("/")
    assert "mail.dead" in browser.text()
    # it looks again by itself, and keeps the place of the keyboard
    browser.press("j", "j")
    assert browser.focused().text == "mail.dead"
    queue.push("invoices", "i/1")
    browser.until(lambda: "invoices" in browser.text() and browser.all("polyline"))
    assert browser.focused().text == "mail.dead"
    if PICTURES:
        for _ in range(6):
            for message in queue.reserve("mail", "mailer-1", 20):
                queue.ack(message.receipt)
            shown = browser.text(".plots")
            browser.until(lambda shown=shown: browser.text(".plots") != shown)
    browser.picture("overview")
    # into the dead letter, by the keyboard alone
    browser.press(Keys.ENTER)
    browser.until(lambda: browser.text("h1") == "mail.dead")
    browser.press("j", Keys.ENTER)
    browser.until(lambda: browser.text("h1").startswith("welcome/"))
    assert "no such user" in browser.text(".timeline")
    assert "@example.org" in browser.text("pre[tabindex]")
    browser.picture("message")
    # and back to where it came from, after the token and a question
    browser.press("d")
    browser.until(lambda: browser.text("h1") == "Dead letters")
    assert not browser.all("form.act")
    browser.click("header a[href*=login]")
    browser.focused().send_keys(TOKEN, Keys.ENTER)
    browser.until(lambda: browser.all("form.act"))
    browser.click(".acts form button")
    assert "mail.dead" in browser.text()
    assert len(queue.peek("mail.dead")) == 5
    browser.click("main button")
    browser.until(lambda: browser.all(".said"))
    assert "5 went back" in browser.text(".said")
    assert queue.peek("mail.dead") == []
    assert browser.complaints() == []


def test_light_dark_and_narrow(browser: Browser, queue: Session) -> None:
    furnish(queue)

    def paper() -> str:
        return browser.driver.execute_script("return getComputedStyle(document.body).backgroundColor")

    browser.emulate(1200, 460, "light")
    browser.open("/dead")
    light = paper()
    browser.emulate(1200, 460, "dark")
    dark = paper()
    browser.picture("dead-letters-dark")
    assert light != dark
    browser.press("t")  # and what one has chosen stays
    assert paper() == light
    browser.open("/group?group=night")
    assert paper() == light
    assert len(browser.all(".graph a")) == 10
    browser.picture("group")
    for path in (
        "/",
        "/dead",
        "/kind?kind=mail",
        "/group?group=night",
        "/search?key=w",
        "/workers",
        "/schedules",
    ):
        browser.emulate(360, 740, "light")
        browser.open(path)
        wide = browser.driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 360, path
    browser.open("/dead")
    browser.picture("narrow")
    assert browser.complaints() == []


def test_search_shows_what_it_finds_while_one_writes(browser: Browser, queue: Session) -> None:
    furnish(queue)
    browser.open("/")
    browser.press("/")
    browser.until(lambda: browser.all("#key"))
    browser.press("/")
    browser.press("img/0001")
    browser.until(lambda: len(browser.all("#found tbody tr")) == 10)
    assert browser.driver.current_url.endswith("key=img%2F0001")
    assert browser.focused().get_attribute("id") == "key"
    assert browser.complaints() == []


def test_what_people_send_runs_nothing(browser: Browser, queue: Session) -> None:
    queue.define("mail", history_seconds=3600)
    queue.push("mail", HOSTILE, {"a": HOSTILE + "</pre>"}, headers={"h": HOSTILE})
    [held] = queue.reserve("mail", HOSTILE)
    queue.nack(held.receipt, error=HOSTILE, delay_seconds=60)
    browser.open("/kind?kind=mail")
    browser.click("td.open a")
    assert browser.text("h1") == HOSTILE
    assert not browser.all("main img")
    assert HOSTILE in browser.text(".timeline pre")
    assert "taken" not in browser.driver.title.replace(HOSTILE, "")
    # and if it could, the policy would stop it
    script = "const s = document.createElement('script'); s.textContent = 'window.taken = 1';"
    browser.driver.execute_script(f"{script} document.body.append(s)")
    assert browser.driver.execute_script("return window.taken") is None
    assert any("Content Security Policy" in one for one in browser.complaints())
