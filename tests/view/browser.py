"""A headless Chromium that shows the page, and what tests do with it."""
import base64
import io
import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ANIMATION_FRAME = 0.02

PIXELS = """
const canvas = document.getElementById(arguments[0]);
const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
let text = '';
for (let i = 0; i < data.length; i += 32768) text += String.fromCharCode(...data.subarray(i, i + 32768));
return [canvas.width, canvas.height, btoa(text)];
"""


def open_browser(width=1280, height=800, touch=False, dark=False, scale=1, records=True):
    """Skips the test where Debian's chromium, chromium-driver or python3-selenium is missing. `records`: requests are
    recorded for Page.requested(), which doubles their cost."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="python3-selenium is missing")
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium or chromium-driver is missing")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ["headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-background-networking",
                     "no-first-run", "window-size=%d,%d" % (width, height)]:
        options.add_argument("--" + argument)
    logs = ["browser", "performance"] if records else ["browser"]
    options.set_capability("goog:loggingPrefs", dict.fromkeys(logs, "ALL"))
    browser = webdriver.Chrome(service=Service(driver), options=options)
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": touch})
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    return browser


class Page:
    def __init__(self, browser, url):
        self.browser = browser
        browser.get("about:blank")
        for log in {"browser", "performance"}.intersection(browser.log_types):
            browser.get_log(log)
        browser.get(url)
        self.wait()

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def find(self, name):
        return self.browser.find_element("id", name)

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def data(self, name=None):
        data = self.run("return {...document.getElementById('picture').dataset}")
        return data if name is None else data[name]

    def wait_until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it never happened: %s, %s" % (self.data(), self.text("notices"))
            time.sleep(ANIMATION_FRAME)

    def wait(self, seconds=20):
        """Waits until the canvas holds the true pixels of the settings."""
        self.wait_until(lambda: self.data().get("state") == "true", seconds)

    def click(self, name):
        self.find(name).click()
        self.wait()

    def unfold(self, element):
        self.run("arguments[0].closest('details')?.setAttribute('open', '')", element)

    def set(self, name, text):
        """Types a text into the field of a parameter."""
        from selenium.webdriver.common.keys import Keys

        field = self.find("control-" + name)
        self.unfold(field)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text, Keys.ENTER)
        self.wait()

    def choose(self, element, value):
        self.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", element, value)

    def mouse(self):
        from selenium.webdriver import ActionChains

        return ActionChains(self.browser, duration=10)

    def drag(self, *offsets):
        """Drags on the picture: from the first place, an offset from its middle, by the others."""
        mouse = self.mouse().move_to_element_with_offset(self.find("picture"), *offsets[0]).click_and_hold()
        for offset in offsets[1:]:
            mouse.move_by_offset(*offset)
        mouse.release().perform()
        self.wait()

    def press(self, *keys):
        self.find("picture").send_keys(*keys)
        self.wait()

    def slide(self, name, value):
        self.run("const slider = document.getElementById(arguments[0]); slider.value = arguments[1];"
                 "slider.dispatchEvent(new Event('input'))", name, value)
        self.wait()

    def pixels(self, name="picture"):
        """A canvas as (height, width, 4)."""
        width, height, text = self.run(PIXELS, name)
        return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4)

    def screenshot(self, element):
        """An element as it is painted, (height, width, 3)."""
        return np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB"))

    def seen_part(self, picture, name="picture"):
        """The canvas at 1:1, which of its pixels show the picture, and that part of the picture."""
        canvas = self.pixels(name)
        assert self.data("zoom") == "1"
        x, y = int(self.data("x")), int(self.data("y"))
        height, width = canvas.shape[:2]
        left, top = max(0, -x), max(0, -y)
        right, bottom = min(width, picture.shape[1] - x), min(height, picture.shape[0] - y)
        inside = np.zeros((height, width), bool)
        inside[top:bottom, left:right] = True
        return canvas, inside, picture[top + y : bottom + y, left + x : right + x]

    def assert_shows(self, picture, name="picture"):
        """Every pixel of the canvas is the picture's, and opaque; nothing is drawn outside."""
        canvas, inside, expected = self.seen_part(picture, name)
        assert inside.sum() > 10000
        np.testing.assert_array_equal(canvas[inside][:, :3].reshape(expected.shape), expected)
        np.testing.assert_array_equal(canvas[:, :, 3], 255 * inside)

    def save_screenshot(self, path):
        """Saves the page as JPEG."""
        told = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "jpeg", "quality": 88})
        Path(path).write_bytes(base64.b64decode(told["data"]))

    def messages(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def requested(self):
        """Every address that was asked for since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
