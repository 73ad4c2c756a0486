"""The page and what lies around it: files that are saved, change or come in folders, and commands that are copied and pasted."""
import time

import numpy as np
import pytest
from PIL import Image

from browser import Page
from conftest import HEIGHT, WIDTH, written

ODD_NAME = "it's \"a\" $HOME;\n`b`.png"


def test_save_asks_before_it_replaces(page):
    out = page.view.folder / "out.png"
    page.find("save").click()
    page.wait_until(out.exists)
    page.click("zoom-1")
    page.assert_shows(np.asarray(Image.open(out)))
    old = out.read_bytes()
    page.set("strength", "9")
    page.find("save").click()
    page.wait_until(lambda: page.find("dialog").is_displayed())
    assert out.read_bytes() == old
    page.browser.find_element("css selector", "#dialog button[value=Replace]").click()
    page.wait_until(lambda: out.read_bytes() != old)
    page.assert_shows(np.asarray(Image.open(out)))
    page.find("save").click()
    page.wait_until(lambda: page.find("dialog").is_displayed())
    page.browser.find_element("css selector", "#dialog button[value='Save as']").click()
    other = page.view.folder / "out-2.png"
    page.wait_until(lambda: other.exists() and "out-2.png" in page.text("command"))
    assert other.read_bytes() == out.read_bytes()


def test_a_pasted_command_sets_every_control(page):
    page.find("paste-command").click()
    page.wait_until(lambda: page.run("return document.activeElement.matches('#dialog textarea')"))
    page.browser.switch_to.active_element.send_keys("satin blur other.png -o other.jpg --radius 12.5 --border mirror")
    page.browser.find_element("css selector", "#dialog button[value=Set]").click()
    page.wait_until(lambda: page.text("command").startswith("satin blur "))
    page.wait()
    assert page.find("control-radius").get_attribute("value") == "12.5"
    assert page.find("control-border").get_attribute("value") == "mirror"
    assert "other" not in page.text("command")
    page.click("zoom-1")
    page.assert_shows(written(page))


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_the_copied_command_runs_in_a_shell(view, browser, tmp_path, photo, shell):
    (tmp_path / "photo.png").rename(tmp_path / ODD_NAME)
    started = view(ODD_NAME, "--filter", "blur", "-o", "-o ut.png")
    page = Page(browser, started.url)
    page.view = started
    granted = {"origin": started.origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", granted)
    page.set("radius", "7")
    page.click("zoom-1")
    page.find("copy-command").click()
    page.wait_until(lambda: "Copied" in page.text("notices"))
    copied = browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == page.text("command")
    page.assert_shows(written(page, shell, "-o ut.png"))
    page.set("radius", "3")
    page.click("paste-command")
    page.wait_until(lambda: page.text("command") == copied)
    assert page.find("control-radius").get_attribute("value") == "7"


@pytest.mark.parametrize("start, name, values", [
    (["--depth", "depth.png", "--blades", "5", "--highlights", "2"], "focus-at", ["40%,55%", "10,20"]),
    (["--filter", "blur radius=2 mask='it`s a mask.png' | unsharp"], "border", ["constant", "reflect"]),
], ids=["a filter", "a pipeline"])
def test_without_its_server_the_page_writes_the_command_of_its_controls(view, browser, tmp_path, photo, start, name, values):
    (tmp_path / "photo.png").rename(tmp_path / "it's a photo.png")
    (tmp_path / "it`s a mask.png").write_bytes((tmp_path / "depth.png").read_bytes())
    started = view("it's a photo.png", "-o", "out put.png", "--threads", "2", *start)
    page = Page(browser, started.url)

    def change(text):
        page.run("const field = document.getElementById(arguments[0]); field.value = arguments[1];"
                 "field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change'))", "control-" + name, text)

    change(values[0])
    page.wait_until(lambda: values[0] in page.text("command"))
    expected = page.text("command").replace(*values)
    page.run("window.fetch = () => Promise.reject(new TypeError('gone'))")
    change(values[1])
    page.wait_until(lambda: page.text("command") == expected)


def test_a_folder_is_a_strip(view, browser, tmp_path, photo):
    from selenium.webdriver.common.keys import Keys

    folder = tmp_path / "holiday"
    folder.mkdir()
    for i in range(3):
        Image.fromarray(np.roll(photo, 100 * i, 1)).save(folder / ("%d.png" % i))
    page = Page(browser, view("holiday", "--filter", "blur").url)
    page.set("radius", "21")
    buttons = browser.find_elements("css selector", "#pictures button")
    assert [button.text for button in buttons] == ["0.png", "1.png", "2.png"]
    buttons[2].click()
    page.wait_until(lambda: page.text("picture-name") == "2.png")
    page.wait()
    page.find("slider-control-radius").send_keys(Keys.PAGE_UP, Keys.PAGE_DOWN)
    assert page.text("picture-name") == "2.png"
    page.set("radius", "21")
    assert page.find("control-radius").get_attribute("value") == "21"
    assert "2.png" in page.text("command")
    small = "return [...document.querySelectorAll('#pictures canvas')].map(({ width, height }) => width / height)"
    page.wait_until(lambda: page.run(small) == pytest.approx([WIDTH / HEIGHT] * 3, rel=0.01))
    (folder / "1.png").write_bytes(b"no picture")
    buttons[1].click()
    page.wait_until(lambda: page.text("picture-name") == "1.png" and page.text("state") == "No picture")
    assert "1.png" in page.text("notices")
    page.wait_until(lambda: not page.pixels().any(), 5)
    buttons[0].click()
    page.wait()
    page.find("batch-command").click()
    page.wait_until(lambda: page.find("dialog").is_displayed())
    assert "--files-from" in page.text("dialog")
    assert page.messages() == []


def test_damaged_pictures_have_a_sign_in_the_strip(view, browser, tmp_path, photo):
    (tmp_path / "in").mkdir()
    (tmp_path / "photo.png").rename(tmp_path / "in" / "b.png")
    whole = (tmp_path / "in" / "b.png").read_bytes()
    (tmp_path / "in" / "a.png").write_bytes(whole[:5000])
    (tmp_path / "in" / "c.png").write_bytes(b"no picture")
    browser.get("about:blank")
    browser.get(view("in", "--filter", "blur", "-o", "out").url)
    buttons = "return [...document.querySelectorAll('#pictures button')].map((each) => [each.title, each.firstChild.className," \
              " each.firstChild.width ?? 0])"
    end = time.monotonic() + 10
    while True:
        shown = browser.execute_script(buttons)
        if len(shown) == 3 and shown[0][1] and shown[2][1] and shown[1][2] > 1:
            break
        assert time.monotonic() < end, shown
        time.sleep(0.05)
    assert [sign for _, sign, _ in shown] == ["damaged", "", "damaged"]
    assert "a.png\n" in shown[0][0] and "c.png\n" in shown[2][0] and shown[1][0] == "b.png"


def test_the_page_says_when_files_change_and_when_the_server_ends(view, browser, tmp_path, photo):
    started = view("photo.png", "--filter", "blur")
    page = Page(browser, started.url)
    Image.fromarray(255 - photo).save(tmp_path / "photo.png")
    page.wait_until(lambda: "changed on disk" in page.text("notices"))
    browser.find_element("css selector", ".notice button:not(.icon)").click()
    page.wait_until(lambda: "changed on disk" not in page.text("notices"))
    page.wait()
    assert page.messages() == []
    started.process.kill()
    page.wait_until(lambda: "has ended" in page.text("notices"))
