"""satin view: the page shows the pixels that its command writes; settings and previews."""
import io
import json
import shlex
import shutil
import threading
import time

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS
from view_scene import check_true, in_8_bits, run, scene, smooth  # noqa: F401 (scene is a fixture)
from view_server import View, needs_server

pytestmark = needs_server

SHELLS = [shell for shell in ("bash", "dash", "sh") if shutil.which(shell)]


def test_every_filter_shows_what_its_command_writes(scene):
    beside = {"depth": "depth.png", "guide": "photo.png", "mask": "depth.png", "radius-map": "depth.png"}
    png_file.write(scene.folder / "white.png", (smooth(120, 160, 1)[:, :, 0] > 90).astype(np.uint8) * 255)
    with View(scene, "photo.png", "-o", "out.png") as view:
        session = view.open()
        listed = json.loads(scene.good("list", "--json").stdout)["filters"]
        assert {each["name"] for each in session["filters"]} == {f["name"] for f in listed if f["output"] == "image"}
        for each in session["filters"]:
            needed = {p["name"]: beside[p["name"]] for p in each["parameters"]
                      if p["kind"] == "image" and (p["required"] or p["name"] == "depth")}
            if each["name"] == "redact":
                needed["box"] = "20,10,50,60"
            if each["name"] == "resize":
                needed["size"] = "100%"
            if each["name"] == "crop":
                needed["aspect"] = "4:3"
            done = view.post("/api/settings", steps=[{"filter": each["name"], "values": needed}]).json()
            assert done["error"] is None, (each["name"], done)
            shown, _ = view.pixels(done["generation"], 160, 120, exact=1)
            assert shown.any()
            check_true(scene, view, done["generation"], done["command"], "out.png")


@pytest.mark.parametrize("output, channels, dtype", [
    ("out.png", 1, np.uint8), ("out.png", 2, np.uint8), ("out.png", 4, np.uint8), ("out.png", 3, np.uint16),
    ("out.jpg", 3, np.uint8), ("out.jpg", 3, np.uint16), ("out.bmp", 3, np.uint16)])
def test_other_pictures_are_shown_as_their_file_shows_them(satin, output, channels, dtype):
    png_file.write(satin.folder / "photo.png", smooth(50, 70, channels, dtype))
    with View(satin, "photo.png", "-o", output, "--filter", "blur", "--radius", "3.5") as view:
        session = view.open()
        check_true(satin, view, session["generation"], session["command"], output)


@pytest.mark.parametrize("channels, dtype", [(3, np.uint8), (4, np.uint8), (3, np.uint16)])
def test_pixels_of_a_profile_are_shown_in_srgb(satin, channels, dtype):
    if not FULL_CODECS:
        pytest.skip("profiles need SATIN_CODECS=FULL")
    image = pytest.importorskip("PIL.Image", reason="Pillow is missing")
    cms = pytest.importorskip("PIL.ImageCms", reason="Pillow has no Little CMS")
    from icc_profile import gamma_profile, with_profile

    pixels = smooth(60, 80, channels, dtype)
    profile = gamma_profile(2.19921875)
    (satin.folder / "wide.png").write_bytes(with_profile(pixels, profile))
    with View(satin, "wide.png", "-o", "out.png", "--filter", "blur", "--radius", "0") as view:
        generation = view.open()["generation"]
        shown, _ = view.pixels(generation, 80, 60, exact=1)
        assert np.array_equal(shown, view.pixels(generation, 80, 60, before=1)[0])
    codes = pixels if dtype == np.uint8 else in_8_bits(pixels).astype(np.uint8)
    colours = image.fromarray(np.ascontiguousarray(codes[:, :, :3]))
    managed = cms.profileToProfile(colours, cms.ImageCmsProfile(io.BytesIO(profile)), cms.createProfile("sRGB"),
                                   renderingIntent=1, flags=0x2000)  # relative colorimetric, black point compensation
    if channels == 4:
        managed = in_8_bits(np.dstack([np.asarray(managed), codes[:, :, 3]]))
    assert np.abs(shown[:, :, :3].astype(int) - np.asarray(managed)).max() <= 1
    assert np.abs(shown[:, :, :3].astype(int) - in_8_bits(pixels)).max() > 20


def test_a_profile_that_is_srgb_changes_nothing(satin):
    cms = pytest.importorskip("PIL.ImageCms", reason="Pillow has no Little CMS")
    from icc_profile import with_profile

    profile = cms.ImageCmsProfile(cms.createProfile("sRGB")).tobytes()
    (satin.folder / "photo.png").write_bytes(with_profile(smooth(60, 80), profile))
    with View(satin, "photo.png", "-o", "out.png", "--filter", "blur", "--radius", "3") as view:
        session = view.open()
        check_true(satin, view, session["generation"], session["command"], "out.png")


def test_options_of_the_filter_are_the_start(scene):
    with View(scene, "photo.png", "--depth", "depth.png", "--focus", "0.25", "-o", "out.png") as view:
        session = view.open()
        assert session["settings"]["steps"] == [{"filter": "dof", "values": {"depth": "depth.png", "focus": "0.25"}}]
        check_true(scene, view, session["generation"], session["command"], "out.png")


def test_a_photograph_with_depth_begins_with_depth_of_field(satin):
    """The sharp original is read when depth of field wants it, and no other time."""
    if not FULL_CODECS:
        pytest.skip("the build reads no photographs' depth")
    pytest.importorskip("PIL", reason="Pillow is missing")
    import photo_file

    blurred, sharp = smooth(80, 120) // 2, smooth(80, 120)
    depth = png_file.encode(np.tile(np.linspace(0, 255, 60).astype(np.uint8), (40, 1)))
    photo = photo_file.gdepth(photo_file.jpeg(blurred), depth, original=photo_file.jpeg(sharp))
    (satin.folder / "photo.jpg").write_bytes(photo)
    with View(satin, "photo.jpg", "-o", "out.png") as view:
        session = view.open()
        assert session["settings"]["steps"] == [{"filter": "dof", "values": {"depth-from": "photo"}}]
        check_true(satin, view, session["generation"], session["command"], "out.png")
        assert view.ask("GET", "/api/at?x=4&y=4").json()["depth"] > 0
        done = view.post("/api/settings", steps=[{"filter": "blur", "values": {"radius": "2"}}]).json()
        view.open()  # waits until the other picture is read
        check_true(satin, view, done["generation"], done["command"], "out.png")
    with View(satin, "photo.jpg", "-o", "out.png", "--filter", "blur", "--radius", "2") as view:
        session = view.open()
        check_true(satin, view, session["generation"], session["command"], "out.png")


def test_settings_that_change_while_a_photograph_is_read_get_the_picture_that_they_want(satin):
    """Blur has another picture read; depth of field is set again while that is read, early or late."""
    if not FULL_CODECS:
        pytest.skip("the build reads no photographs' depth")
    pytest.importorskip("PIL", reason="Pillow is missing")
    import photo_file

    depth = png_file.encode(np.tile(np.linspace(0, 255, 60).astype(np.uint8), (40, 1)))
    photo = photo_file.gdepth(photo_file.jpeg(smooth(1000, 1500)), depth)
    (satin.folder / "photo.jpg").write_bytes(photo)
    dof = {"filter": "dof", "values": {"depth-from": "photo"}}
    with View(satin, "photo.jpg", "-o", "out.png") as view:
        view.open()
        for pause in (0, 0.002, 0.005, 0.01, 0.02, 0.05):
            view.post("/api/settings", steps=[{"filter": "blur", "values": {"radius": "2"}}])
            time.sleep(pause)
            generation = view.post("/api/settings", steps=[dof]).json()["generation"]
            assert view.pixels(generation, 9, 9, zoom=0.01)[1] in ("preview", "true"), pause


@pytest.mark.parametrize("name", ["with space.png", "it's.png", 'a"b.png', "new\nline.png", "-dash.png", "$HOME`id`.png",
                                  "back\\slash.png", "~tilde.png", "ümlaut.png", "#hash;&|.png", "100%.png"])
def test_the_command_is_quoted_for_every_shell(satin, name):
    png_file.write(satin.folder / name, smooth(20, 30))
    with View(satin, "./" + name, "-o", "./out " + name, "--filter", "blur", "--radius", "2") as view:
        session = view.open()
        assert len(shlex.split(session["command"])) == 7
        shown, _ = view.pixels(session["generation"], 30, 20, exact=1)
        for shell in SHELLS:
            run(satin, session["command"], shell)
            assert np.array_equal(png_file.read(satin.folder / ("out " + name)), shown[:, :, :3])
            (satin.folder / ("out " + name)).unlink()
        again = view.post("/api/command", text=session["command"]).json()
        assert again["error"] is None and again["command"] == session["command"]


def test_names_that_are_no_text_survive_the_shell(satin):
    name = b"caf\xe9 '%\\.png"
    path = bytes(satin.folder) + b"/" + name
    with open(path, "wb") as file:
        file.write(png_file.encode(smooth(20, 30)))
    with View(satin, "./" + name.decode("utf-8", "surrogateescape"), "-o", "out.png") as view:
        for shell in SHELLS:
            run(satin, view.open()["command"], shell)
            (satin.folder / "out.png").unlink()


def test_names_that_turn_the_writing_around_are_quoted_visibly(satin):
    name = "gnp.\u202eexe \u2066it's\u200f.png"
    png_file.write(satin.folder / name, smooth(20, 30))
    with View(satin, "./" + name, "-o", "out.png", "--filter", "blur", "--radius", "2") as view:
        command = view.open()["command"]
        assert command.isascii() and "$'" in command
        for shell in set(SHELLS) & {"bash"}:
            run(satin, command, shell)
            (satin.folder / "out.png").unlink()
        again = view.post("/api/command", text=command + " --border reflect").json()
        assert again["error"] is None and again["command"] == command + " --border reflect"
        for text in ("satin blur $'a", "satin blur $'a\\9'", "satin blur $'\\777' -o b", "satin blur $'\\000' -o b"):
            assert view.post("/api/command", text=text).json()["error"]["message"]


def test_a_pasted_command_sets_everything(scene):
    with View(scene, "photo.png", "-o", "out.png") as view:
        view.open()
        text = "satin  blur 'other.jpg' -o \"x y.png\" \\\n --radius=5x3 --border reflect --dither"
        pasted = view.post("/api/command", text=text).json()
        assert pasted["error"] is None
        assert pasted["settings"]["steps"] == [{"filter": "blur", "values": {"radius": "5x3", "border": "reflect"}}]
        assert pasted["command"] == "satin blur photo.png -o out.png --radius 5x3 --border reflect --dither"
        check_true(scene, view, pasted["generation"], pasted["command"], "out.png")
        piped = view.post("/api/command", text="satin run \"blur radius=2 | unsharp amount=2\" in.png -o out.png").json()
        assert [step["filter"] for step in piped["settings"]["steps"]] == ["blur", "unsharp"]
        check_true(scene, view, piped["generation"], piped["command"], "out.png")
        for text, says in [("rm -rf /", "satin"), ("satin blur a.png -o b.png; id", "shell"), ("satin blur $(id)", "shell"),
                           ("satin blur 'a", "quote"), ("satin stats a.png", "picture"),
                           ("satin blur a -o b --radius x", "radius"),
                           ("satin blur a -o b --report r.json", "--report"), ("satin blurr a -o b", "blur"), ("", "satin"),
                           ("satin dof a -o b --depth /etc/passwd", "/etc/passwd")]:
            refused = view.post("/api/command", text=text).json()
            assert says in refused["error"]["message"], (text, refused)
            assert refused["generation"] == piped["generation"] and refused["command"] == piped["command"]


def test_errors_name_the_parameter(scene):
    with View(scene, "photo.png", "-o", "out.png") as view:
        generation = view.open()["generation"]
        done = view.post("/api/settings", steps=[{"filter": "blur", "values": {"radius": "-1"}}]).json()
        assert done["error"]["parameter"] == "radius" and done["generation"] == generation
        done = view.post("/api/settings", steps=[{"filter": "guided", "values": {"guide": "none.png"}}]).json()
        assert done["error"]["parameter"] == "guide"
        done = view.post("/api/settings", steps=[{"filter": "dof", "values": {"depth": "depth.png", "focus": "7"}}]).json()
        assert done["error"] is None  # only a run can tell
        reply = view.ask("GET", "/api/view?generation=%d&x=0&y=0&width=9&height=9&zoom=1&exact=1" % done["generation"])
        assert reply.status == 200 and reply.fields["x-satin-state"] == "refused"
        assert "focus" in reply.json()["error"]["message"].lower()


def test_a_click_focuses_as_the_option_does(scene):
    with View(scene, "photo.png", "--depth", "depth.png", "--focus", "0.9", "-o", "out.png") as view:
        view.open()
        done = view.post("/api/focus", x=40, y=60).json()
        assert done["settings"]["steps"][0]["values"] == {"depth": "depth.png", "focus-at": "40,60"}
        check_true(scene, view, done["generation"], done["command"], "out.png")
        view.pixels(done["generation"], 9, 9, exact=1)
        seen = view.ask("GET", "/api/at?x=40&y=60").json()
        assert seen["before"] == smooth(120, 160)[60, 40].tolist() and seen["radius"] == 0
        assert seen["depth"] == pytest.approx(np.linspace(0, 255, 160).astype(np.uint8)[40] / 255)
        near, far = (view.ask("GET", "/api/at?x=%d&y=60" % x).json()["radius"] for x in (150, 5))
        assert far < 0 < near
        assert view.ask("GET", "/api/at?x=1000&y=5").json()["before"] is None


def test_the_focus_is_an_end_of_the_depth(scene):
    codes = np.linspace(0, 255, 160).astype(np.uint8)
    outside = (120 * 160 - 1) // 50 // 120  # columns
    for word, column in ("nearest", 159 - outside), ("farthest", outside):
        with View(scene, "photo.png", "--depth", "depth.png", "--focus", word, "-o", "%s.png" % word) as view:
            session = view.open()
            record = next(f for f in session["filters"] if f["name"] == "dof")["parameters"]
            focus = next(p for p in record if p["name"] == "focus")
            assert focus["kind"] == "number" and focus["choices"] == ["nearest", "farthest"]
            assert session["settings"]["steps"][0]["values"] == {"depth": "depth.png", "focus": word}
            assert "--focus %s " % word in session["command"] + " "
            view.pixels(session["generation"], 9, 9, exact=1)
            step = view.ask("GET", "/api/found").json()["steps"][0]
            assert step["focus"] == pytest.approx(codes[column] / 255)
            assert abs(int(step["focus-at"].split(",")[0]) - column) <= 2
            assert view.ask("GET", "/api/at?x=%d&y=60" % column).json()["radius"] == pytest.approx(0, abs=0.01)
            check_true(scene, view, session["generation"], session["command"], "%s.png" % word)
            done = view.post("/api/settings", steps=[{"filter": "dof", "values": {"depth": "depth.png", "focus": "near"}}])
            assert done.json()["error"]["parameter"] == "focus"


@pytest.mark.parametrize("overlay", ["coc", "groups", "hidden"])
def test_overlays_are_what_debug_gives(scene, overlay):
    with View(scene, "photo.png", "--depth", "depth.png", "-o", "out.png") as view:
        session = view.open()
        shown, state = view.pixels(session["generation"], 160, 120, overlay=overlay, exact=1)
        scene.good("dof", "photo.png", "-o", "debug.png", "--depth", "depth.png", "--debug", overlay)
        assert state == "true" and np.array_equal(shown[:, :, :3], png_file.read(scene.folder / "debug.png"))


def test_the_page_learns_depth_and_what_the_settings_leave_open(scene):
    codes = np.linspace(0, 255, 160).astype(np.uint8)
    with View(scene, "photo.png", "--depth", "depth.png", "-o", "out.png") as view:
        session = view.open()
        view.pixels(session["generation"], 9, 9, exact=1)
        found = view.ask("GET", "/api/found").json()
        assert found["generation"] == session["generation"]
        step, depth = found["steps"][0], found["depth"]
        assert step["focus"] == pytest.approx(codes[80] / 255, abs=2 / 255) and step["focus-at"] == "50%,50%"
        assert step["strength"] == pytest.approx(1.6, rel=0.05) and step["max_radius"] == 64 and step["sharp_range"] == 0
        assert (depth["lowest"], depth["highest"], depth["near"], depth["inverse"]) == (0, 1, "highest", False)
        assert sum(depth["counts"]) == 120 * 160 and min(depth["counts"]) > 0
        shown, state = view.pixels(session["generation"], 160, 120, overlay="depth", exact=1)
        assert state == "true" and np.array_equal(shown[:, :, :3], np.broadcast_to(codes[:, None], (120, 160, 3)))
        values = {"depth": "depth.png", "depth-kind": "depth", "depth-scale": "0.1", "focus": "4"}
        done = view.post("/api/settings", steps=[{"filter": "blur", "values": {}}, {"filter": "dof", "values": values}]).json()
        view.pixels(done["generation"], 9, 9, exact=1)
        found = view.ask("GET", "/api/found").json()
        step, depth = found["steps"][1], found["depth"]
        x = int(step["focus-at"].split(",")[0])
        assert step["focus"] == 4 and abs(codes[x] / 10 - 4) < 0.2 and found["steps"][0] == {}
        assert (depth["highest"], depth["near"], depth["inverse"]) == (25.5, "lowest", True)
        assert depth["lowest"] == pytest.approx(0.1) and sum(depth["counts"]) < 120 * 160  # 0 is unknown
        shown, _ = view.pixels(done["generation"], 160, 120, overlay="depth", exact=1)
        assert shown[60, 0, :3].tolist() == [96, 32, 96] and shown[60, 1, 0] > shown[60, 100, 0] >= shown[60, 159, 0] == 0
        done = view.post("/api/settings", steps=[{"filter": "blur", "values": {}}]).json()
        view.pixels(done["generation"], 9, 9, exact=1)
        assert view.ask("GET", "/api/found").json()["depth"] is None
        refused = view.ask("GET", "/api/view?generation=%d&x=0&y=0&width=9&height=9&zoom=1&overlay=depth" % done["generation"])
        assert refused.fields["x-satin-state"] == "refused" and "depth" in refused.json()["error"]["message"]


def test_a_newer_generation_wins(satin):
    """Requests that wait for older generations are answered at once."""
    png_file.write(satin.folder / "big.png", smooth(1500, 2000))
    with View(satin, "big.png", "-o", "out.png", "--filter", "median", "--radius", "200") as view:
        session = view.open()
        answers = []

        def wait(generation):
            target = "/api/view?generation=%d&x=0&y=0&width=64&height=64&zoom=1&exact=1" % generation
            answers.append(view.ask("GET", target))

        threads = []
        for radius in range(201, 206):
            threads.append(threading.Thread(target=wait, args=(session["generation"] + radius - 201,)))
            threads[-1].start()
            time.sleep(0.1)
            steps = [{"filter": "median", "values": {"radius": str(radius)}}]
            done = view.post("/api/settings", steps=steps).json()
        last = view.post("/api/settings", steps=[{"filter": "blur", "values": {"radius": "1"}}]).json()
        for thread in threads:
            thread.join(10)
        assert [(each.status, each.fields["x-satin-state"]) for each in answers] == 5 * [(200, "stale")]
        assert done["generation"] + 1 == last["generation"]
        assert view.pixels(last["generation"], 64, 64, exact=1)[1] == "true"


def test_zoom_and_place(scene):
    with View(scene, "photo.png", "-o", "out.png", "--radius", "0") as view:
        generation = view.open()["generation"]
        pixels = smooth(120, 160)
        shown, _ = view.pixels(generation, 64, 48, x=10, y=20, zoom=4, exact=1)
        assert np.array_equal(shown[:, :, :3], pixels[20:32, 10:26].repeat(4, 0).repeat(4, 1))
        shown, _ = view.pixels(generation, 20, 20, x=-5, y=-7, before=1)
        assert not shown[:7].any() and not shown[:, :5].any() and np.array_equal(shown[7:, 5:, :3], pixels[:13, :15])
        shown, _ = view.pixels(generation, 30, 20, x=0.5, y=0.25, zoom=3, before=1)
        columns, rows = (0.5 + (np.arange(30) + 0.5) / 3).astype(int), (0.25 + (np.arange(20) + 0.5) / 3).astype(int)
        assert np.array_equal(shown[:, :, :3], pixels[rows][:, columns])


def test_smaller_pictures_stay_in_place(satin):
    """A ramp is the same ramp at any zoom: levels move nothing by more than their rounding."""
    ramp = np.repeat(np.tile(np.arange(1024) // 4, (512, 1))[:, :, None], 3, 2).astype(np.uint8)
    png_file.write(satin.folder / "ramp.png", ramp)
    with View(satin, "ramp.png", "-o", "out.png", "--filter", "blur", "--radius", "0") as view:
        generation = view.open()["generation"]
        for zoom in (0.9, 0.5, 0.4, 0.25, 0.2):
            width = int(1024 * zoom)
            shown, _ = view.pixels(generation, width, int(512 * zoom), zoom=zoom, before=1)
            places = (np.arange(width) + 0.5) / zoom
            assert np.abs(shown[5, :, 0].astype(float) - (places - 2) / 4).max() < 1.6, zoom


def test_a_preview_looks_like_the_true_picture(satin):
    y, x = np.mgrid[:1200, :1600]
    waves = 128 + 100 * np.sin(x / 60) * np.cos(y / 90)
    png_file.write(satin.folder / "big.png", np.stack([waves, 255 - waves, waves / 2], 2).astype(np.uint8))
    png_file.write(satin.folder / "mask.png", np.where(x < 800, 255, 0).astype(np.uint8))
    with View(satin, "big.png", "-o", "out.png", "--filter", "median radius=20 mask=mask.png | blur radius=40") as view:
        generation = view.open()["generation"]
        quick, state = view.pixels(generation, 400, 300, zoom=0.25)
        true, _ = view.pixels(generation, 400, 300, zoom=0.25, exact=1)
        assert state == "preview" and np.abs(quick.astype(int) - true).mean() < 1


def test_depth_of_an_odd_picture_has_previews(satin):
    """A smaller picture has not quite the aspect of the depth. What was never run is expected to be slow."""
    png_file.write(satin.folder / "odd.png", smooth(997, 1203))
    png_file.write(satin.folder / "depth.png", np.tile(np.linspace(0, 255, 1203).astype(np.uint8), (997, 1)))
    with View(satin, "odd.png", "--depth", "depth.png", "--focus", "0.5", "-o", "out.png") as view:
        generation = view.open()["generation"]
        quick, state = view.pixels(generation, 300, 249, zoom=0.25)
        true, _ = view.pixels(generation, 300, 249, zoom=0.25, exact=1)
        assert state == "preview" and np.abs(quick.astype(int) - true).mean() < 6
