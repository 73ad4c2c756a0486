"""Depth on the page: the focus that a run finds, the histogram with the sharp range, and the depth view."""
import numpy as np
import pytest
from PIL import Image

from browser import Page
from conftest import HEIGHT, WIDTH, written

LOW, HIGH = 51, 204  # codes of the depth


@pytest.fixture
def depth_page(view, photo, browser, tmp_path):
    codes = np.linspace(LOW, HIGH, WIDTH).round()
    Image.fromarray(np.broadcast_to(codes, (HEIGHT, WIDTH)).astype(np.uint8)).save(tmp_path / "depth.png")
    started = view("photo.png", "--depth", "depth.png", "--filter", "dof", "-o", "out.png")
    page = Page(browser, started.url)
    page.view = started
    page.codes = codes
    page.wait_until(lambda: "automatic" in placeholder(page, "focus"))
    yield page
    assert page.messages() == []


def placeholder(page, name):
    return page.run("return document.getElementById('control-' + arguments[0]).placeholder", name)


def set_value(page, name):
    return float(page.find("control-" + name).get_attribute("value"))


def test_automatic_values_are_told_until_a_click_sets_the_focus(depth_page):
    page = depth_page
    assert page.text("hint") == "Click the picture to set the focus" and page.find("hint").is_displayed()
    middle = float(placeholder(page, "focus").removesuffix(", automatic"))
    assert abs(middle - page.codes[WIDTH // 2] / 255) < 0.005
    assert placeholder(page, "max-radius") == "64, automatic" and placeholder(page, "sharp-range") == "0, automatic"
    assert page.run("return document.querySelector('#control-soft').selectedOptions[0].text") == "off, automatic"
    assert page.run("return document.querySelectorAll('#marks .automatic').length") == 1
    page.mouse().move_to_element_with_offset(page.find("picture"), 150, 40).click().perform()
    page.wait()
    assert not page.find("hint").is_displayed()
    assert page.run("return document.querySelectorAll('#marks .place:not(.automatic)').length") == 1
    page.wait_until(lambda: float(placeholder(page, "focus").removesuffix(", automatic")) > middle + 0.05)


def test_the_sharp_range_has_handles_on_the_range_of_the_map(depth_page):
    from selenium.webdriver.common.keys import Keys

    page = depth_page
    assert page.text("depth-histogram") == "far 0.2near 0.8"
    for position, code in ((0, LOW), (1000, HIGH), (500, (LOW + HIGH) / 2)):
        page.slide("slider-control-focus", position)
        assert abs(set_value(page, "focus") - code / 255) < 1e-3
    low, high = page.browser.find_elements("css selector", "#depth-histogram input")
    high.send_keys(*[Keys.ARROW_RIGHT] * 10)
    page.wait()
    assert abs(set_value(page, "focus") - 0.53) < 2e-3 and abs(set_value(page, "sharp-range") - 0.03) < 2e-3
    low.send_keys(Keys.SHIFT, Keys.ARROW_LEFT)
    page.wait()
    assert abs(set_value(page, "focus") - 0.5) < 2e-3 and abs(set_value(page, "sharp-range") - 0.06) < 2e-3
    assert high.get_attribute("ariaValueText") == "0.56" and "Near" in high.get_attribute("ariaLabel")
    across = 0.1 * high.size["width"]  # from the middle to 0.56 of 0.2 to 0.8
    page.mouse().move_to_element_with_offset(high, int(across), 0).click_and_hold().move_by_offset(130, 0).release().perform()
    page.wait()
    assert abs(set_value(page, "focus") + set_value(page, "sharp-range") - HIGH / 255) < 2e-3
    page.click("zoom-1")
    page.assert_shows(written(page))
    page.find("undo").click()
    page.wait()
    assert abs(set_value(page, "sharp-range") - 0.06) < 2e-3


def test_the_focus_may_be_an_end_of_the_depth(depth_page):
    from selenium.webdriver.common.keys import Keys

    page = depth_page
    words = "return [...document.getElementById('control-focus').list.options].map((option) => option.value)"
    assert page.run(words) == ["nearest", "farthest"]
    for word, low, high in ("nearest", 960, 990), ("farthest", 10, 40):
        field = page.find("control-focus")
        field.clear()
        field.send_keys(word, Keys.ENTER)
        page.wait()
        assert "--focus %s" % word in page.text("command")
        page.wait_until(lambda: low <= int(page.find("slider-control-focus").get_attribute("value")) <= high)
    page.slide("slider-control-focus", 500)
    assert abs(set_value(page, "focus") - (LOW + HIGH) / 2 / 255) < 1e-3


def test_the_depth_view_is_grey_from_far_to_near(depth_page):
    page = depth_page
    page.click("zoom-1")
    page.click("depth-view")
    grey = np.floor(255 * (page.codes - LOW) / (HIGH - LOW) + 0.5).astype(np.uint8)
    page.assert_shows(np.broadcast_to(grey[None, :, None], (HEIGHT, WIDTH, 3)))
    assert page.find("legend").is_displayed() and "far 0.2" in page.text("legend") and "near 0.8" in page.text("legend")
    page.click("overlay-coc")
    assert page.find("depth-view").get_attribute("aria-pressed") == "false"
    page.wait_until(lambda: "px behind" in page.text("legend"))
    page.click("overlay-coc")
    assert not page.find("legend").is_displayed()
    page.assert_shows(written(page))
