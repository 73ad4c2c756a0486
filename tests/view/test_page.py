"""The page in a browser: what is seen is what the command writes."""
import numpy as np
import pytest
from PIL import Image

from browser import Page, open_browser
from conftest import HEIGHT, WIDTH, written


def test_canvas_is_the_file_of_the_command(page):
    page.set("strength", "14")
    page.click("zoom-1")
    before = page.pixels()
    page.assert_shows(written(page))
    page.drag((100, 50), (-60, -40))
    assert (page.pixels() != before).any()
    page.assert_shows(written(page))


def test_the_token_leaves_the_address(page):
    assert page.browser.current_url == page.view.origin + "/"
    assert page.browser.get_cookies() == [] and page.run("return localStorage.length") == 0
    page.browser.refresh()
    page.wait()


def test_a_click_sets_the_focus_and_history_goes_back(page):
    first = page.text("command")
    page.click("zoom-1")
    page.mouse().move_to_element_with_offset(page.find("picture"), 120, 80).click().perform()
    page.wait()
    canvas = page.run("const { width, height } = document.getElementById('picture'); return [width, height]")
    at = [int(page.data("xy"[i])) + canvas[i] // 2 + [120, 80][i] for i in (0, 1)]
    focused = page.text("command")
    assert "--focus-at %d,%d" % tuple(at) in focused or "--focus-at=%d,%d" % tuple(at) in focused
    page.set("highlights", "4")
    assert "highlights" in page.text("command")
    page.click("undo")
    assert page.text("command") == focused
    page.click("undo")
    assert page.text("command") == first
    page.click("redo")
    assert page.text("command") == focused
    page.click("reset")
    assert page.text("command") == first


def test_every_filter_has_a_control_for_every_parameter(page):
    filters = page.run("return fetch('/api/session', { headers: { 'X-Satin-Token': sessionStorage['satin-secret'] } })"
                       ".then((answer) => answer.json()).then((told) => told.filters)")
    assert len(filters) > 10
    for described in filters:
        name = described["name"]
        page.run("const select = document.querySelector('.step.open select.name'); select.value = arguments[0];"
                 "select.onchange()", name)
        shown = page.run("const all = [...document.querySelectorAll('.control > :is(input, select)[id^=control-]')];"
                         "return all.map(({ id }) => id)")
        assert sorted(shown) == sorted("control-" + parameter["name"] for parameter in described["parameters"]), name
        unnamed = page.run("return [...document.querySelectorAll(':is(input, select, button, textarea)')].filter((each) => "
                           "!each.labels?.length && !each.ariaLabel && !each.textContent.trim()).map(({ id }) => id)")
        assert unnamed == [], name
    page.choose(page.browser.find_element("css selector", ".step.open select.name"), "blur")
    page.wait()


def select_filter(page, name):
    page.choose(page.browser.find_element("css selector", ".step.open select.name"), name)
    page.wait()


def test_controls_stand_in_the_order_for_people(page):
    shown = page.run("return [...document.querySelectorAll('.step.open > .control > label')].map((each) => each.textContent)")
    assert shown == ["Depth", "Focus", "Or focus at", "Strength", "Or f number", "Bokeh"]
    folds = page.run("return [...document.querySelectorAll('.step.open > details')].map((each) =>"
                     " [each.firstChild.textContent, each.open, ...[...each.children].slice(1).map(({ children }) =>"
                     " children[1].id)])")
    assert [fold[:2] for fold in folds] == [["Lens shape", False], ["More", False]]
    assert "control-blade-angle" in folds[0] and "control-squeeze" in folds[0]
    more = folds[1].index
    assert more("control-subject") < more("control-highlights") < more("control-depth-scale")
    page.run("document.querySelector('.step.open > details').open = true")
    select_filter(page, "blur")
    opened = "return [...document.querySelectorAll('.step.open > details[open]')].map((each) => each.firstChild.textContent)"
    assert page.run(opened) == []
    select_filter(page, "dof")
    assert page.run(opened) == ["Lens shape"]


def test_strength_and_f_number_replace_each_other(page):
    page.set("strength", "5")
    page.set("focal-length", "85")
    page.set("f-number", "2")
    assert "--f-number 2" in page.text("command") and "--strength" not in page.text("command")
    page.set("strength", "3")
    assert "--f-number" not in page.text("command") and "--focal-length" not in page.text("command")


@pytest.mark.parametrize("values", ["polygon 5 20 0.6 1.4 0", "hexagon 0 -15 0 0.6 1"])
def test_the_picture_of_the_opening_has_the_shape_of_lamps(view, browser, tmp_path, values):
    bokeh, blades, angle, curvature, squeeze, onion = values.split()
    radius, half = 40, 70
    lamp = np.zeros((2 * half + 1, 2 * half + 1), np.uint8)
    lamp[half, half] = 255
    Image.fromarray(lamp).save(tmp_path / "lamp.png")
    Image.fromarray(np.full_like(lamp, 100)).save(tmp_path / "flat.png")
    set_blades = [] if blades == "0" else ["--blades", blades]
    started = view("lamp.png", "--filter", "tilt-shift", "--radius", radius, "--band", 0, "--falloff", 0, "--place", "0,0",
                   "--highlights", 64, "--bokeh", bokeh, "--blade-angle=" + angle, "--blade-curvature", curvature,
                   "--squeeze", squeeze, "--onion", onion, *set_blades, "-o", "out.png")
    page = Page(browser, started.url)
    page.click("zoom-1")
    canvas, inside, _ = page.seen_part(lamp)
    drawn = canvas[inside][:, 0].reshape(lamp.shape)
    drawn = drawn > 0.6 * drawn.max()  # half of the light, or a dark ring

    def filled(reach):
        points = page.run("const [path] = document.querySelectorAll('.aperture path'), [size, reach] = arguments, all = [];"
                          "const turned = path.parentNode.transform.baseVal.consolidate().matrix.inverse();"
                          "for (let y = -size; y <= size; ++y) for (let x = -size; x <= size; ++x)"
                          " all.push(path.isPointInFill(new DOMPoint(x / reach, y / reach).matrixTransform(turned)));"
                          "return all", half, reach)
        return np.array(points).reshape(drawn.shape)

    shown = filled(half * np.sqrt(drawn.sum() / filled(half).sum()))
    assert (shown & drawn).sum() > 0.95 * (shown | drawn).sum() > 2000


def test_a_filter_that_comes_back_has_its_settings(page):
    page.set("strength", "11")
    page.set("focus", "0.25")
    first = page.text("command")
    for name in ("blur", "dof"):
        page.choose(page.browser.find_element("css selector", ".step.open select.name"), name)
        page.wait()
        assert page.text("command").startswith("satin " + name)
    assert page.text("command") == first
    page.mouse().click(page.find("picture")).perform()
    page.wait()
    assert "--focus-at" in page.text("command") and "--focus " not in page.text("command")


def test_a_wrong_value_is_told_at_its_control(page):
    shown = page.text("command")
    page.find("control-strength").send_keys("nonsense")
    page.wait_until(lambda: page.find("control-strength-message").is_displayed())
    assert "strength" in page.text("control-strength-message")
    assert page.text("command") == shown
    page.set("strength", "3")
    assert not page.find("control-strength-message").is_displayed()


def test_a_drag_shows_pictures_on_its_way_and_ends_at_the_last(page):
    page.run("window.seen = []; const picture = document.getElementById('picture');"
             "picture.addEventListener('painted', () => window.seen.push(Number(picture.dataset.generation)))")
    # A drag goes on until pictures were shown on its way: how many a second depends on the machine.
    for step in range(1000):
        position = 100 + 20 * step % 800
        page.run("const slider = document.getElementById('slider-control-strength'); slider.value = arguments[0];"
                 "slider.dispatchEvent(new Event('input'))", position)
        if len(set(page.run("return window.seen"))) >= 4:
            break
    last = page.run("document.getElementById('slider-control-strength').dispatchEvent(new Event('change'));"
                    "return document.getElementById('control-strength').value")
    page.wait()
    generations = page.run("return window.seen")
    assert len(set(generations)) >= 4
    assert generations == sorted(generations)
    assert "--strength " + last in page.text("command")
    page.click("zoom-1")
    page.assert_shows(written(page))


def test_a_drag_with_shift_changes_the_strength(page):
    from selenium.webdriver.common.keys import Keys

    page.set("strength", "10")
    place = page.data("x"), page.data("y")
    mouse = page.mouse().key_down(Keys.SHIFT).move_to_element(page.find("picture")).click_and_hold()
    mouse.move_by_offset(0, -40).move_by_offset(0, -40).release().key_up(Keys.SHIFT).perform()
    page.wait()
    assert float(page.find("control-strength").get_attribute("value")) > 15
    assert "--focus-at" not in page.text("command")
    assert (page.data("x"), page.data("y")) == place
    for name, parameter in [("tilt-shift", "radius"), ("blur", "sigma")]:
        select_filter(page, name)
        page.set(parameter, "1.5")
        mouse = page.mouse().key_down(Keys.SHIFT).move_to_element_with_offset(page.find("picture"), 120, 90).click_and_hold()
        mouse.move_by_offset(0, -40).move_by_offset(0, -40).release().key_up(Keys.SHIFT).perform()
        page.wait()
        assert float(page.find("control-" + parameter).get_attribute("value")) > 1.7, name
        assert page.text("command").count("--") == 1, page.text("command")


def test_places_and_boxes_are_drawn_on_the_picture(page):
    def select():
        return page.browser.find_element("css selector", ".step.open select.name")

    page.choose(select(), "tilt-shift")
    page.click("zoom-1")
    mark = page.browser.find_element("css selector", "#marks .grip")
    page.mouse().click_and_hold(mark).move_by_offset(-150, 90).release().perform()
    page.wait()
    across, down = (float(part.strip("%")) for part in page.find("control-place").get_attribute("value").split(","))
    assert abs(across - (50 - 100 * 150 / WIDTH)) < 0.5 and abs(down - (50 + 100 * 90 / HEIGHT)) < 0.5
    page.choose(select(), "redact")
    page.wait_until(lambda: "nothing to cover" in page.text("notices"))
    page.browser.find_element("css selector", ".control.box button").click()
    page.drag((-120, -60), (90, 70))
    page.drag((80, 20), (50, 60))
    boxes = [[int(part) for part in box.split(",")] for box in page.find("control-box").get_attribute("value").split(";")]
    assert [box[2:] for box in boxes] == [[90, 70], [50, 60]]
    page.assert_shows(written(page))
    covered = page.pixels()[boxes[0][1] - int(page.data("y")) + 35, boxes[0][0] - int(page.data("x")) + 45]
    assert list(covered) == [0, 0, 0, 255]
    assert "nothing to cover" not in page.text("notices")


def test_a_brush_paints_a_mask(page):
    plain = page.text("command")
    page.click("zoom-1")
    page.click("brush")
    page.drag((-100, 0), (120, 60), (60, -90))
    painted = page.text("command")
    assert "--mask" in painted
    page.assert_shows(written(page))
    page.click("eraser")
    page.drag((-20, 40), (60, 0))
    page.assert_shows(written(page))
    page.click("undo")
    page.assert_shows(written(page))
    page.click("undo")
    assert page.text("command") == plain
    page.click("redo")
    page.assert_shows(written(page))


def test_strokes_are_still_there_when_the_page_is_loaded_again(page):
    page.click("zoom-1")
    page.click("brush")
    page.drag((-100, 0), (160, 0))
    painted = page.text("command")
    mask = page.view.folder / "photo-mask.png"
    before = np.asarray(Image.open(mask)).astype(int)
    page.browser.refresh()
    page.wait()
    assert page.text("command") == painted and page.find("eraser").is_enabled()
    page.click("zoom-1")
    page.click("eraser")
    page.drag((-20, 0), (40, 0))
    assert "photo-mask2.png" in page.text("command")
    after = np.asarray(Image.open(page.view.folder / "photo-mask2.png")).astype(int)
    assert (after <= before).all() and 0 < after.sum() < before.sum()
    np.testing.assert_array_equal(np.asarray(Image.open(mask)), before)
    page.assert_shows(written(page))
    page.click("undo")
    np.testing.assert_array_equal(np.asarray(Image.open(mask)), before)


def test_several_changes_in_one_moment_are_all_shown(page):
    """The first one needs nothing from the server, and the others come before the page has ended that look."""
    page.run("const compare = document.getElementById('compare'); compare.dispatchEvent(new Event('input'));"
             "document.getElementById('zoom-1').click(); document.getElementById('overlay-coc').click()")
    page.wait(10)
    page.assert_shows(written(page, more=" --debug coc"))


def test_before_and_after(page, photo):
    page.set("strength", "20")
    page.click("zoom-1")
    after, inside, original = page.seen_part(photo)
    page.slide("compare", 50)
    both = page.pixels()
    half = both.shape[1] // 2
    np.testing.assert_array_equal(both[:, half + 1 :], after[:, half + 1 :])
    np.testing.assert_array_equal(both[:, : half - 1][inside[:, : half - 1]][:, :3].reshape(original.shape[0], -1, 3),
                                  original[:, : inside[:, : half - 1].sum(1).max()])
    page.slide("compare", 0)
    page.mouse().click_and_hold(page.find("hold")).perform()
    page.wait()
    page.assert_shows(photo)
    page.mouse().release().perform()
    page.wait()
    np.testing.assert_array_equal(page.pixels(), after)


def test_two_views_show_the_same_part(page, photo):
    page.set("strength", "20")
    page.click("zoom-1")
    page.click("two-up")
    page.drag((-60, 20), (50, 30))
    page.assert_shows(photo, "before")
    page.assert_shows(written(page))
    place = page.data("x"), page.data("y")
    page.mouse().drag_and_drop_by_offset(page.find("before"), -70, -40).perform()
    page.wait()
    assert [int(page.data("xy"[i])) - int(place[i]) for i in (0, 1)] == [70, 40]
    page.assert_shows(photo, "before")
    page.assert_shows(written(page))
    page.mouse().move_to_element_with_offset(page.find("before"), 30, 20).click().perform()  # focuses, as the other one
    page.wait()
    size = page.pixels().shape
    x, y = int(page.data("x")) + size[1] // 2 + 30, int(page.data("y")) + size[0] // 2 + 20
    assert "--focus-at %d,%d" % (x, y) in page.text("command")
    page.press("y")
    assert not page.find("before").is_displayed() and page.pixels().shape[1] > 1.9 * size[1]
    page.press("x")
    assert page.run("return [document.getElementById('compare').value, document.getElementById('split').hidden]") == ["50", False]
    page.press("x")


def test_painting_protects_and_a_mask_is_inverted(page, photo):
    page.set("strength", "20")
    page.click("zoom-1")
    page.click("eraser")
    page.drag((-100, 0), (120, 0))
    protecting, keeps = page.text("command"), written(page)
    page.assert_shows(keeps)
    mask = np.asarray(Image.open(page.view.folder / "photo-mask.png"))
    assert mask[0, 0] == 255 and mask.min() == 0
    np.testing.assert_array_equal(keeps[mask == 0], photo[mask == 0])
    page.click("brush")
    page.drag((-40, 0), (30, 0))
    page.click("invert-mask")
    inverted = written(page)
    page.assert_shows(inverted)
    inverted_view = page.pixels()
    other = np.asarray(Image.open(page.view.folder / "photo-mask3.png"))
    second = np.asarray(Image.open(page.view.folder / "photo-mask2.png"))
    np.testing.assert_array_equal(other, 255 - second)
    assert (second >= mask).all() and (second != mask).any()
    np.testing.assert_array_equal(inverted[other == 0], photo[other == 0])
    page.browser.refresh()
    page.wait()
    page.click("zoom-1")
    page.assert_shows(inverted)
    page.click("invert-mask")
    assert (page.pixels() != inverted_view).any()
    page.click("undo")
    page.assert_shows(inverted)
    page.click("clear-mask")
    assert "--mask" not in page.text("command")
    np.testing.assert_array_equal(np.asarray(Image.open(page.view.folder / "photo-mask.png")), mask)  # of the first command
    assert "photo-mask.png" in protecting


@pytest.mark.parametrize("overlay", ["coc", "groups", "hidden"])
def test_overlays_are_those_of_debug(page, overlay):
    page.click("zoom-1")
    page.click("overlay-" + overlay)
    assert "--debug" not in page.text("command")
    page.assert_shows(written(page, more=" --debug " + overlay))
    page.click("overlay-" + overlay)
    page.assert_shows(written(page))


def test_a_pipeline_of_several(page):
    page.choose(page.find("add-step"), "unsharp")
    page.set("amount", "2")
    page.click("zoom-1")
    assert page.text("command").startswith("satin run ")
    page.assert_shows(written(page))
    page.browser.find_element("css selector", "[aria-label='Earlier in the pipeline']").click()
    page.wait()
    page.assert_shows(written(page))


def test_keys_reach_everything_on_the_picture(page):
    from selenium.webdriver.common.keys import Keys

    page.press("1")
    assert page.data("zoom") == "1"
    x = int(page.data("x"))
    page.press(Keys.ARROW_RIGHT)
    assert int(page.data("x")) > x
    page.press("c", Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ENTER)
    assert "--focus-at" in page.text("command")
    assert page.find("loupe").is_displayed()
    page.press(Keys.ESCAPE)
    page.press(Keys.CONTROL, "z")
    assert "--focus-at" not in page.text("command")
    page.press("0")
    assert float(page.data("zoom")) < 1


def test_the_loupe_tells_colour_depth_and_radius(page, photo):
    page.set("strength", "20")
    page.click("zoom-1")
    page.mouse().move_to_element_with_offset(page.find("picture"), 40, 30).perform()
    page.wait_until(lambda: "Radius" in page.text("loupe-values"))
    values = page.run("const names = [...document.querySelectorAll('#loupe-values dt')];"
                      "return Object.fromEntries(names.map((name) => [name.textContent, name.nextSibling.textContent]))")
    x, y = map(int, values["Place"].split(","))
    assert values["Before"] == " ".join(map(str, photo[y, x]))
    after = page.pixels()[y - int(page.data("y")), x - int(page.data("x")), :3]
    assert values["After"] == " ".join(map(str, after))
    assert abs(float(values["Depth"]) - (x * 255 // (WIDTH - 1)) / 255) < 0.001
    assert values["Radius"].endswith(" px")


def test_fingers_pinch_and_pan(view, photo):
    started = view("photo.png", "--filter", "blur")
    browser = open_browser(390, 844, touch=True)
    try:
        page = Page(browser, started.url)
        before = float(page.data("zoom"))

        def touch(kind, *places):
            points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", (150, 300), (240, 300))
        for way in (10, 30, 60):
            touch("touchMove", (150 - way, 300), (240 + way, 300))
        touch("touchEnd")
        page.wait()
        assert float(page.data("zoom")) > 2 * before
        x = float(page.data("x"))
        touch("touchStart", (200, 300))
        for way in (20, 60, 90):
            touch("touchMove", (200 - way, 300))
        touch("touchEnd")
        page.wait()
        assert float(page.data("x")) > x
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
        assert page.messages() == []
    finally:
        browser.quit()


def test_sliders_follow_arrows(page):
    from selenium.webdriver.common.keys import Keys

    page.set("strength", "20")
    slider = page.find("slider-control-strength")

    def position():
        return int(page.run("return arguments[0].value", slider))

    texts = []
    for key, moves in [(Keys.ARROW_RIGHT, 10)] * 4 + [(Keys.PAGE_UP, 100), (Keys.SHIFT + Keys.ARROW_UP, 100)]:
        before = position()
        slider.send_keys(key, Keys.NULL)
        assert position() - before == moves  # of 1000
        texts.append(float(page.find("control-strength").get_attribute("value")))
    assert texts == sorted(set(texts)) and texts[0] > 20
    slider.send_keys(Keys.PAGE_DOWN)
    assert float(page.find("control-strength").get_attribute("value")) == texts[-2]
    page.unfold(page.find("control-blades"))
    for blades in ("4", "5", "6"):  # whole numbers do not wait for several keys
        page.find("slider-control-blades").send_keys(Keys.ARROW_RIGHT)
        assert page.find("control-blades").get_attribute("value") == blades
    page.set("blades", Keys.DELETE)
    field = page.find("control-strength")
    field.send_keys(Keys.ARROW_UP)
    assert float(field.get_attribute("value")) > texts[-2]
    page.set("strength", Keys.DELETE)
    assert "--strength" not in page.text("command")


@pytest.mark.parametrize("name,low,middle,high", [
    ("strength", 0, 9.05, 100), ("blade-angle", -180, 0, 180), ("squeeze", 0.5, 1, 2),
])  # fmt: skip
def test_sliders_cover_the_usual_range_of_their_record(page, name, low, middle, high):
    page.unfold(page.find("control-" + name))
    for position, value in ((0, low), (500, middle), (1000, high)):
        page.slide("slider-control-" + name, position)
        assert float(page.find("control-" + name).get_attribute("value")) == value


def test_another_tab_is_shown_and_its_settings_are_not_written(page):
    page.set("strength", "6")
    other = page.run("return fetch('/api/settings', { method: 'POST', headers: { 'Content-Type': 'application/json',"
                     " 'X-Satin-Token': sessionStorage['satin-secret'] }, body: JSON.stringify({ steps: [{ filter: 'dof',"
                     " values: { depth: 'depth.png', strength: '9' } }] }) }).then((answer) => answer.json())")
    assert other["error"] is None
    page.find("save").click()
    page.wait_until(lambda: "another page" in page.text("notices"))
    assert not (page.view.folder / "out.png").exists()
    page.wait_until(lambda: page.text("command") == other["command"])
    page.wait()
    assert page.run("return document.getElementById('control-strength').value") == "9"
    page.click("zoom-1")
    page.assert_shows(written(page))


@pytest.mark.parametrize("failure", ["new Response('busy', { status: 503 })", "Promise.reject(new TypeError('network'))"])
def test_a_failed_request_is_repeated_and_no_old_picture_is_called_true(page, failure):
    page.run("window.own = window.fetch; window.seen = [];"
             "window.fetch = (url, options) => url.includes('/api/view') ? %s : window.own(url, options);"
             "document.getElementById('picture').addEventListener('painted', ({ target }) =>"
             " window.seen.push(target.dataset.state));" % ("Promise.resolve(%s)" % failure if "new R" in failure else failure))
    page.run("const slider = document.getElementById('slider-control-strength'); slider.value = 700;"
             "slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change'));")
    page.wait_until(lambda: page.run("return document.getElementById('state').dataset.state") == "trouble")
    assert page.data("state") == "busy" and "true" not in page.run("return window.seen")
    page.run("window.fetch = window.own")
    page.wait()
    assert page.run("return document.getElementById('state').dataset.state") == "true"
    page.click("zoom-1")
    page.assert_shows(written(page))


def contrast(one, other):
    """The ratio of WCAG 2 of two colours."""
    def luminance(colour):
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in np.asarray(colour) / 255]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sliders_can_be_seen(page, scheme):
    """Thumbs, set or not, and tracks have a contrast of 3:1 to the panel."""
    emulate = "Emulation.setEmulatedMedia"
    page.browser.execute_cdp_cmd(emulate, {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    try:
        for name in ("strength", "grain"):  # unset, and at its default
            slider = page.find("slider-control-" + name)
            page.unfold(slider)
            assert page.run("return arguments[0].classList.contains('unset')", slider) == (name == "strength")
            seen = page.screenshot(slider)
            panel = seen[0, -1]
            assert (panel.mean() < 128) == (scheme == "dark")
            thumb = max(contrast(colour, panel) for colour in seen[2:6].reshape(-1, 3))
            track = max(contrast(colour, panel) for colour in seen[:, -40])
            assert thumb >= 3 and track >= 3, (name, thumb, track)
    finally:
        page.browser.execute_cdp_cmd(emulate, {"features": []})
