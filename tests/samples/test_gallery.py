"""samples/gallery in a browser: every filter has a card, the line can be moved, and the commands shown make what is shown."""
import hashlib
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "view"))
from browser import open_browser  # noqa: E402

BUILD = Path(os.environ.get("SATIN_BINARY", "build/satin")).resolve().parent

pytestmark = pytest.mark.skipif(os.environ.get("SATIN_CODECS", "FULL") != "FULL", reason="the scene needs the codecs of SATIN_CODECS=FULL")


def set_width(browser, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def run(words, folder):
    return subprocess.run([str(BUILD / words[0]), *words[1:]], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True).stdout


def digests(folder):
    """Every file below a folder, by its name there."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


@pytest.fixture(scope="module")
def browser():
    opened = open_browser(1280, 800)
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [still]})
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def folder(browser, tmp_path_factory):  # the browser first: without one nothing is rendered
    made = tmp_path_factory.mktemp("gallery")
    subprocess.run([sys.executable, "-B", str(ROOT / "samples" / "gallery"), str(BUILD), "-o", str(made), "--width", "240"], check=True)
    return made


@pytest.fixture
def page(browser, folder):
    set_width(browser, 1280)
    browser.get("about:blank")
    browser.get_log("browser"), browser.get_log("performance")
    browser.get((folder / "index.html").as_uri())
    return browser


def test_every_filter_has_a_card(page, folder):
    names = [each["name"] for each in json.loads(run(["satin", "list", "--json"], folder))["filters"]]
    cards = page.execute_script("return [...document.querySelectorAll('figure')].map((card) => card.dataset.filter)")
    links = page.execute_script("return [...document.querySelectorAll('nav a')].map((link) => document.querySelector(link.hash).dataset.filter)")
    assert cards[0] == "dof"
    assert set(cards) == set(names) and sorted(links) == sorted(names)


def test_all_is_loaded_without_a_message(page, folder):
    pictures = page.execute_script("return [...document.images].map((each) => [each.complete, each.naturalWidth])")
    assert len(pictures) >= 2 * len(page.find_elements("tag name", "figure")) > 0
    assert all(complete and width > 0 for complete, width in pictures)
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert asked and all(unquote(urlparse(url).path).startswith(str(folder)) for url in asked if not url.startswith("about:"))
    assert page.get_log("browser") == []


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_window(page, width):
    set_width(page, width)
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def line_of(page, card):
    """Where the line is, in pixels from the left edge of the pictures, and their width."""
    return page.execute_script("""
        const frame = arguments[0].querySelector('.frame').getBoundingClientRect();
        const line = arguments[0].querySelector('.line').getBoundingClientRect();
        return [(line.left + line.right) / 2 - frame.left, frame.width];""", card)


def assert_shows(page, card, line):
    """The photograph is left of the line and the drawing, white along its lower edge, right of it."""
    image = pytest.importorskip("PIL.Image")
    seen = np.asarray(image.open(io.BytesIO(card.find_element("class name", "frame").screenshot_as_png)).convert("RGB"))
    white = (seen[-4] == 255).all(axis=1)
    assert not white[: int(line) - 3].any() and white[int(line) + 4 : -1].all()


def test_the_line_moves_by_keys_and_by_drag(page):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    card = page.find_element("css selector", "figure[data-filter=stats]")
    slider = card.find_element("css selector", "input[type=range]")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", card)
    first, width = line_of(page, card)
    slider.send_keys(*[Keys.ARROW_RIGHT] * 5)
    second, _ = line_of(page, card)
    assert second == pytest.approx(first + 0.05 * width, abs=1)
    assert_shows(page, card, second)
    # From the line to 150 pixels right of the middle.
    mouse = ActionChains(page, duration=10).move_to_element_with_offset(slider, round(second - width / 2), 0).click_and_hold()
    mouse.move_to_element_with_offset(slider, 60, 0).move_to_element_with_offset(slider, 150, 0).release().perform()
    third, _ = line_of(page, card)
    assert third == pytest.approx(width / 2 + 150, abs=width / 100 + 1)
    assert_shows(page, card, third)
    slider.send_keys(Keys.HOME)
    assert line_of(page, card)[0] == pytest.approx(0, abs=1)
    slider.send_keys(Keys.END)
    assert line_of(page, card)[0] == pytest.approx(width, abs=1)


def test_copy_selects_the_command(page):
    card = page.find_element("css selector", "figure[data-filter=redact]")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", card)
    card.find_element("tag name", "button").click()
    command = page.execute_script("return arguments[0].querySelector('code').textContent", card)
    assert command.startswith("satin redact ")
    assert page.execute_script("return getSelection().toString()").strip() == command


def test_the_commands_shown_make_what_is_shown(page, folder, tmp_path):
    """The commands are run in an empty folder, by what the page says alone; and again where the page is."""
    prepared = page.execute_script("return [...document.querySelectorAll('.made code')].map((each) => each.textContent)")
    cards = page.execute_script("""
        return [...document.querySelectorAll('figure')].map((card) => [card.querySelector('code').textContent,
          ...['.before', '.after'].map((picture) => card.querySelector(picture).getAttribute('src'))]);""")
    for line in prepared:
        run(shlex.split(line), tmp_path)
    shown, by_whom = digests(folder), dict.fromkeys(digests(tmp_path), "prepared")
    for command, before, after in cards:
        assert before in by_whom, "%s is compared with %s, which is not an input" % (command, before)
        run(shlex.split(command), tmp_path)
        new = {name: command for name in digests(tmp_path) if name not in by_whom}
        assert after in new or after == "table.png"
        by_whom.update(new)
    assert set(shown) - set(by_whom) == {"index.html", "table.png"}
    again = digests(tmp_path)
    assert {name: maker for name, maker in by_whom.items() if again[name] != shown[name]} == {}
    for command, _, _ in cards:
        run(shlex.split(command) + ["--overwrite"], folder)
    assert digests(folder) == shown


def test_the_table_is_drawn_as_shares_of_its_last_entry(folder):
    image = pytest.importorskip("PIL.Image")
    table = np.load(folder / "table.npy").astype(object)
    scene = np.asarray(image.open(folder / "scene.png")).astype(object)
    assert (table == scene.cumsum(0).cumsum(1)).all()
    np.testing.assert_array_equal(np.asarray(image.open(folder / "table.png")), (255 * table // table[-1, -1]).astype(np.uint8))
