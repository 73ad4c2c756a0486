"""Depth and masks that are picked in the page: files beside the picture, and files that are dropped on it."""
import base64
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from browser import Page
from conftest import BINARY, written

sys.path.append(str(Path(__file__).parents[1] / "cli"))
import onnx_file  # noqa: E402
import photo_file  # noqa: E402

DROP = """
const bytes = Uint8Array.from(atob(arguments[1]), (c) => c.charCodeAt(0));
const dataTransfer = new DataTransfer();
dataTransfer.items.add(new File([bytes], arguments[0]));
const over = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true });
document.getElementById('picture').dispatchEvent(over);
document.getElementById('picture').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
return over.defaultPrevented;
"""


@pytest.fixture
def stored(tmp_path, monkeypatch):
    folder = tmp_path / "stored"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def start(view, browser, *arguments):
    started = view(*arguments)
    browser.get("about:blank")
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(started.url)
    page = Page.__new__(Page)
    page.browser, page.view = browser, started
    page.wait_until(lambda: page.data("state") != "busy" or "cannot" in page.text("state"))
    return page


def answer(page, text, field=None):
    """Presses an answer of the dialog, and types into its field before."""
    page.wait_until(lambda: page.find("dialog").is_displayed())
    if field is not None:
        page.run("document.querySelector('#dialog .body input').value = arguments[0]", field)
    page.browser.find_element("css selector", "#dialog button[value='%s']" % text).click()


def shown(page, name):
    return page.find(name).is_displayed()


def test_without_depth_the_panel_offers_ways_to_go_on(view, browser, tmp_path, photo):
    page = start(view, browser, "photo.png", "--filter", "dof", "-o", "out.png")
    page.wait_until(lambda: shown(page, "no-depth"))
    assert not shown(page, "own-depth") and page.text("notices") == ""
    first = page.text("command")
    page.find("pick-depth").click()
    page.wait_until(lambda: page.run("return document.activeElement.textContent") == "depth.png")
    page.browser.switch_to.active_element.click()
    page.wait()
    assert page.text("command") == first + " --depth depth.png" and not shown(page, "no-depth")
    page.click("zoom-1")
    page.assert_shows(written(page))
    page.find("undo").click()
    page.wait_until(lambda: shown(page, "no-depth") and page.text("command") == first)
    page.find("no-depth").click()
    page.wait()
    assert page.text("command").startswith("satin tilt-shift ")
    page.find("undo").click()
    page.wait_until(lambda: page.text("command") == first)
    assert page.messages() == []


def test_the_depth_of_a_photograph_is_offered_where_there_is_one(view, browser, tmp_path):
    y, x = np.mgrid[:240, :320]
    sharp, codes = ((x * 7 + y * 3) % 251).astype(np.uint8), (x * 255 // 319).astype(np.uint8)
    (tmp_path / "photo.jpg").write_bytes(photo_file.gdepth(photo_file.jpeg(sharp), photo_file.png(codes)))
    page = start(view, browser, "photo.jpg", "--filter", "dof", "-o", "out.png")
    page.wait_until(lambda: shown(page, "own-depth"))
    chosen = ("return document.getElementById('own-depth').parentElement.previousElementSibling"
              ".querySelector('select').selectedOptions[0].textContent")
    assert page.run(chosen) == "none"
    page.find("own-depth").click()
    page.wait()
    assert page.text("command").endswith("--depth-from photo") and not shown(page, "no-depth")
    assert page.run(chosen) == "from photo"
    written(page)


def test_depth_is_estimated_where_a_model_is_set(view, browser, tmp_path, photo):
    if not json.loads(subprocess.check_output([BINARY, "devices", "--json"]))["onnxruntime"]["version"]:
        pytest.skip("no ONNX Runtime")
    (tmp_path / "toy.onnx").write_bytes(onnx_file.luminance(30, 40))
    page = start(view, browser, "photo.png", "--filter", "dof", "-o", "out.png", "--model", tmp_path / "toy.onnx")
    page.wait_until(lambda: shown(page, "estimate-depth"))
    assert not shown(page, "own-depth")
    page.find("estimate-depth").click()
    page.wait()
    assert "--depth-from model" in page.text("command") and not shown(page, "no-depth")
    page.click("zoom-1")
    page.assert_shows(written(page))


def test_a_dropped_file_is_kept_where_the_user_says(view, browser, tmp_path, photo, stored):
    page = start(view, browser, "photo.png", "--filter", "dof", "--depth", "depth.png", "-o", "out.png")
    mask = np.zeros(photo.shape[:2], np.uint8)
    mask[:, 300:] = 255
    Image.fromarray(mask).save(tmp_path / "m.png")
    data = base64.b64encode((tmp_path / "m.png").read_bytes()).decode()
    (tmp_path / "m.png").write_bytes(b"mine")
    first = page.text("command")
    assert page.run(DROP, "m.png", data)
    answer(page, "Cancel")
    assert page.text("command") == first and list(stored.iterdir()) == []
    page.run(DROP, "m.png", data)
    answer(page, "Mask")
    page.wait_until(lambda: "--mask" in page.text("command"))
    page.wait()
    page.click("zoom-1")
    page.assert_shows(written(page))
    (tmp_path / "out.png").unlink()
    for button in ("save", "copy-command"):
        page.find(button).click()
        answer(page, "Cancel")
        page.wait_until(lambda: not shown(page, "dialog"))
        assert str(stored) in page.text("command") and not (tmp_path / "out.png").exists()
    page.find("copy-command").click()
    page.wait_until(lambda: page.run("return document.querySelector('#dialog .body input')?.value") == "m.png")
    answer(page, "Keep")
    page.wait_until(lambda: "exists" in page.text("dialog"))
    answer(page, "Save as", "kept \u202e.png")
    page.wait_until(lambda: page.text("command").endswith("--mask $'kept\\040\\342\\200\\256.png'"))
    assert (tmp_path / "m.png").read_bytes() == b"mine" and (np.asarray(Image.open(tmp_path / "kept \u202e.png")) == mask).all()
    page.find("save").click()
    page.wait_until((tmp_path / "out.png").exists)
    page.find("undo").click()
    page.wait_until(lambda: page.text("command") == first)
    page.find("redo").click()
    page.wait_until(lambda: "--mask $'kept" in page.text("command"))
    assert page.run("return document.getElementById('control-mask').value") == "kept \u202e.png"
    page.run(DROP, "notes.txt", data)
    answer(page, "Depth")
    page.wait_until(lambda: "does not end like" in page.text("notices"))
    assert page.messages() == []
