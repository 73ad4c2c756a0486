"""satin view: masks, saving, folders, files that change or are damaged, and how it begins."""
import json
import shutil
import subprocess
import time

import numpy as np

import png_file
from conftest import BINARY
from view_scene import check_true, run, scene, smooth  # noqa: F401 (scene is a fixture)
from view_server import View, needs_server, read_answer

pytestmark = needs_server


def brush(width, height, points, radius, hardness):
    """The cover of a stroke, from its definition in real numbers."""
    y, x = np.mgrid[:height, :width] + 0.5
    distance = np.full((height, width), np.inf)
    for (ax, ay), (bx, by) in zip(points[:1] + points[:-1], points):
        dx, dy = bx - ax, by - ay
        along = np.clip(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-30), 0, 1)
        distance = np.minimum(distance, np.hypot(x - ax - along * dx, y - ay - along * dy))
    return np.clip((radius - distance) / max(radius * (1 - hardness), 1), 0, 1) * 255


def test_strokes_become_the_mask_that_the_command_names(scene):
    strokes = [{"points": [[30, 30], [120, 40], [100, 90]], "radius": 12, "hardness": 0.5, "erase": False},
               {"points": [[60, 36]], "radius": 8, "hardness": 1, "erase": True}]
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur", "--radius", "9") as view:
        first = view.open()
        done = view.post("/api/mask", strokes=strokes, step=0).json()
        assert done["mask"] == "photo-mask.png" and "--mask photo-mask.png" in done["command"]
        mask = png_file.read(scene.folder / done["mask"]).astype(int)
        painted, erased = (brush(160, 120, s["points"], s["radius"], s["hardness"]) for s in strokes)
        assert np.abs(mask - painted * (255 - erased) / 255).max() <= 2
        assert mask.min() == 0 and mask.max() == 255
        check_true(scene, view, done["generation"], done["command"], "out.png")
        kept = view.ask("GET", "/api/session").json()["paintings"]
        assert kept == [{"step": 0, "mask": done["mask"], "strokes": strokes}]
        again = view.post("/api/mask", strokes=strokes[:1], step=0).json()
        assert again["mask"] == "photo-mask2.png" and png_file.read(scene.folder / again["mask"])[36, 60] == 255
        assert (png_file.read(scene.folder / done["mask"]) == mask).all()  # the first command means the same
        check_true(scene, view, again["generation"], again["command"], "out.png")
        none = view.post("/api/mask", strokes=[], step=0).json()
        assert none["mask"] is None and none["command"] == first["command"]
        for wrong in ({}, {"strokes": 5}, {"strokes": [{"points": [[1, 2]]}]}, {"strokes": [], "step": 9},
                      {"strokes": [{"points": [["a", 2]], "radius": 1, "hardness": 1}]}):
            reply = view.post("/api/mask", **wrong)
            assert reply.fields["x-satin-state"] == "refused" and reply.json()["error"]["message"], wrong
        assert view.ask("GET", "/api/session").json()["command"] == first["command"]


def test_masks_are_inverted_and_painted_on(scene):
    given = np.tile(np.arange(160, dtype=np.uint8), (120, 1))
    png_file.write(scene.folder / "given.png", given)
    png_file.write(scene.folder / "small.png", given[:60])
    stroke = {"points": [[30, 30], [120, 40]], "radius": 12, "hardness": 1, "erase": False}
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur", "--radius", "9") as view:
        view.open()

        def paint(**body):
            done = view.post("/api/mask", step=0, **body).json()
            check_true(scene, view, done["generation"], done["command"], "out.png")
            return done, png_file.read(scene.folder / done["mask"]).astype(int)

        _, painted = paint(strokes=[stroke])
        done, inverse = paint(strokes=[stroke], inverted=True)
        assert (inverse == 255 - painted).all() and done["mask"] != "photo-mask.png"
        kept = view.ask("GET", "/api/session").json()["paintings"]
        assert kept == [{"step": 0, "mask": done["mask"], "strokes": [stroke], "inverted": True}]
        done, on_given = paint(strokes=[stroke], below="given.png")
        assert (on_given == given + ((255 - given.astype(int)) * painted + 127) // 255).all()
        assert view.post("/api/open", index=0).json()["paintings"][0]["below"] == "given.png"
        done, inverse = paint(strokes=[], below="given.png", inverted=True)
        assert (inverse == 255 - given).all()
        done, plain = paint(strokes=[], below="given.png")
        assert done["mask"] == "given.png" and (plain == given).all()
        shown = done["command"]
        for wrong in ({"below": 5}, {"below": "../given.png"}, {"below": "small.png"}, {"below": "none.png"},
                      {"below": "a\0b"}):
            reply = view.post("/api/mask", step=0, strokes=[stroke], **wrong)
            assert reply.fields["x-satin-state"] == "refused" and reply.json()["error"]["message"], wrong
        assert view.ask("GET", "/api/session").json()["command"] == shown
        png_file.write(scene.folder / "given.png", 255 - given)
        _, again = paint(strokes=[stroke], below="given.png")
        assert again[0, 0] == 255 and again[0, 159] == 255 - 159


def test_masks_of_commands_stay_and_others_go_with_the_session(scene):
    strokes = [{"points": [[30 + i, 30]], "radius": 12, "hardness": 0.5, "erase": False} for i in range(5)]
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur", "--radius", "9") as view:
        view.open()
        first = view.post("/api/mask", strokes=strokes[:1], step=0).json()["mask"]
        assert view.post("/api/mask", strokes=strokes[:2], step=0, continued=True).json()["mask"] == first
        assert view.post("/api/copied").status == 200
        assert view.post("/api/mask", strokes=strokes[:3], step=0, continued=True).json()["mask"] != first
        masks = []
        for i in range(5):
            masks.append(view.post("/api/mask", strokes=strokes[: i + 1], step=0).json()["mask"])
            if i == 1:
                assert view.post("/api/copied").status == 200
            if i == 2:
                assert view.post("/api/save", name=None).json()["saved"] == "out.png"
        assert len(set(masks)) == 5 and all((scene.folder / mask).exists() for mask in masks)
        view.end()
    assert [(scene.folder / mask).exists() for mask in masks] == [False, True, True, False, True]


def test_painted_masks_wait_for_their_picture(scene):
    (scene.folder / "in").mkdir()
    for name in ("a.png", "b.png"):
        shutil.copy(scene.folder / "photo.png", scene.folder / "in" / name)
    strokes = [{"points": [[30, 30]], "radius": 12, "hardness": 0.5, "erase": False}]
    with View(scene, "in", "-o", "out", "--filter", "blur", "--radius", "9") as view:
        view.open()
        painted = view.post("/api/mask", strokes=strokes, step=0, inverted=True).json()
        assert view.post("/api/open", index=0).json()["command"] == painted["command"]  # read again
        other = view.post("/api/open", index=1).json()
        assert "mask" not in other["command"] and other["paintings"] == []
        back = view.post("/api/open", index=0).json()
        assert back["command"] == painted["command"]
        assert back["paintings"] == [{"step": 0, "mask": painted["mask"], "strokes": strokes, "inverted": True}]
        run(scene, back["command"], "bash")  # the folder of the output does not exist yet


def test_save_writes_the_output_and_never_over_a_file_unasked(scene):
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur", "--radius", "4") as view:
        session = view.open()
        assert view.post("/api/save", name=None).json()["saved"] == "out.png"
        scene.good("blur", "photo.png", "-o", "expected.png", "--radius", "4")
        assert (scene.folder / "out.png").read_bytes() == (scene.folder / "expected.png").read_bytes()
        (scene.folder / "out.png").write_bytes(b"mine")
        assert view.post("/api/save", name=None).json() == {"exists": "out.png"}
        assert (scene.folder / "out.png").read_bytes() == b"mine"
        assert view.post("/api/save", name=None, overwrite=True).status == 200
        assert (scene.folder / "out.png").read_bytes() == (scene.folder / "expected.png").read_bytes()
        named = view.post("/api/save", name="named.bmp").json()
        assert named["saved"] == "named.bmp" and named["command"].endswith("-o named.bmp --radius 4")
        for name in ("photo.png", "x.nothing"):
            reply = view.post("/api/save", name=name, overwrite=True)
            assert reply.status == 200 and reply.fields["x-satin-state"] == "refused"
        assert np.array_equal(png_file.read(scene.folder / "photo.png"), smooth(120, 160))
        assert view.ask("GET", "/api/changes").json()["generation"] == session["generation"]


def test_what_the_session_reads_is_never_replaced(scene):
    before = {path.name: path.read_bytes() for path in scene.folder.iterdir() if path.is_file()}
    (scene.folder / "linked.png").symlink_to("depth.png")
    with View(scene, "photo.png", "--depth", "depth.png", "-o", "out.png") as view:
        view.open()
        for name in ("photo.png", "depth.png", "linked.png"):
            assert view.post("/api/save", name=name).json()["exists"] == name
            reply = view.post("/api/save", name=name, overwrite=True)
            assert reply.fields["x-satin-state"] == "refused" and name in reply.json()["error"]["message"]
    assert all((scene.folder / name).read_bytes() == data for name, data in before.items())


def test_where_a_link_leads_is_said(scene):
    (scene.folder / "elsewhere").mkdir()
    for name, target in (("away.png", "elsewhere/far.png"), ("dangling.png", "elsewhere/none.png"), ("near.png", "other.png")):
        if name != "dangling.png":
            (scene.folder / target).write_bytes(b"mine")
        (scene.folder / name).symlink_to(target)
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur") as view:
        view.open()
        for name, leads in (("away.png", "far.png"), ("dangling.png", "none.png")):
            told = view.post("/api/save", name=name).json()
            assert told == {"exists": name, "leads_to": str((scene.folder / "elsewhere" / leads).resolve())}
        assert view.post("/api/save", name="near.png").json() == {"exists": "near.png"}
    assert (scene.folder / "elsewhere" / "far.png").read_bytes() == b"mine"
    assert not (scene.folder / "elsewhere" / "none.png").exists()


def test_a_mask_is_no_name_with_a_zero(scene):
    with View(scene, "photo.png", "-o", "out.png") as view:
        generation = view.open()["generation"]
        done = view.post("/api/settings", steps=[{"filter": "blur", "values": {"mask": "depth.png\0.jpg"}}]).json()
        assert done["error"]["parameter"] == "mask" and done["generation"] == generation


def test_a_save_leaves_the_page_free_and_can_be_cancelled(scene):
    png_file.write(scene.folder / "large.png", np.tile(smooth(500, 700), (6, 6, 1)))
    with View(scene, "large.png", "-o", "out.png", "--filter", "blur", "--threads", "1") as view:
        view.open()
        slow = [{"filter": "median", "values": {"radius": "%d" % (90 + i), "percent": "%d" % (40 + i)}} for i in range(40)]
        saved = view.post("/api/settings", steps=slow).json()
        with view.connect() as connection:
            body = json.dumps({"name": None, "generation": saved["generation"]}).encode()
            connection.sendall(view.request("POST", "/api/save", body))
            while (share := view.ask("GET", "/api/changes").json()["saving"]) is None:
                time.sleep(0.01)
            assert 0 <= share < 1
            assert "being saved" in view.post("/api/save", name=None).json()["error"]["message"]
            changed = view.post("/api/settings", steps=[{"filter": "blur", "values": {"radius": "3"}}]).json()
            assert view.pixels(changed["generation"], 300, 200, zoom=0.1)[1] in ("preview", "true")
            assert view.ask("GET", "/api/changes").json()["saving"] is not None
            start = time.monotonic()
            view.post("/api/cancel")
            answer = read_answer(connection)
            assert time.monotonic() - start < 2 and b"refused" in answer and b"Nothing was saved" in answer
        assert not (scene.folder / "out.png").exists() and list(scene.folder.glob(".*")) == []
        assert view.ask("GET", "/api/changes").json()["saving"] is None
        assert view.post("/api/save", name=None).json()["saved"] == "out.png"


def test_the_end_waits_for_no_brush(scene):
    random = np.random.default_rng(3)
    points = (random.random((190_000, 2)) * 100).round(1).tolist()
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur") as view:
        view.open()
        body = json.dumps({"strokes": [{"points": points, "radius": 4000, "hardness": 0.5, "erase": False}], "step": 0})
        with view.connect() as connection:
            connection.sendall(view.request("POST", "/api/mask", body.encode()))
            time.sleep(1)
            start = time.monotonic()
            assert view.end() == (130, "")
            assert time.monotonic() - start < 2


def test_what_changes_on_disk_is_told(scene):
    with View(scene, "photo.png", "--depth", "depth.png", "-o", "out.png") as view:
        view.open()
        assert view.ask("GET", "/api/changes").json()["changed"] == []
        png_file.write(scene.folder / "depth.png", np.full((120, 160), 9, np.uint8))
        assert view.ask("GET", "/api/changes").json()["changed"] == ["depth"]
        (scene.folder / "out.png").write_bytes(b"other")
        png_file.write(scene.folder / "photo.png", smooth(60, 80))
        assert view.ask("GET", "/api/changes").json()["changed"] == ["picture", "depth", "output"]
        session = view.post("/api/open", index=0).json()
        assert (session["picture"]["width"], session["picture"]["height"]) == (80, 60)
        assert view.ask("GET", "/api/changes").json()["changed"] == []


def test_a_folder_carries_the_settings_and_gives_a_command_for_all(scene):
    with View(scene, "many", "-o", "soft", "--filter", "blur", "--radius", "2") as view:
        session = view.open()
        assert session["files"] == ["p0.png", "p1.png", "p2.png"] and session["index"] == 0
        changed = view.post("/api/settings", steps=[{"filter": "blur", "values": {"radius": "3"}}]).json()
        other = view.post("/api/open", index=2).json()
        assert other["picture"]["width"] == 52 and other["settings"] == changed["settings"]
        assert other["command"] == "satin blur many/p2.png -o soft/ --radius 3"
        (scene.folder / "soft").mkdir()
        check_true(scene, view, other["generation"], other["command"], "soft/p2.png")
        assert view.post("/api/save", name=None).json()["saved"] == "soft/p2.png"
        (scene.folder / "soft" / "p2.png").unlink()
        assert view.post("/api/open", index=3).status == 400
        batch = view.post("/api/list").json()
        run(scene, batch["command"])
        for i in range(3):
            scene.good("blur", "many/p%d.png" % i, "-o", "one.png", "--radius", "3", "--overwrite")
            assert (scene.folder / "soft" / ("p%d.png" % i)).read_bytes() == (scene.folder / "one.png").read_bytes()


def test_a_damaged_picture_is_told_and_the_next_one_opens(scene):
    (scene.folder / "many" / "p0.png").write_bytes((scene.folder / "many" / "p0.png").read_bytes()[:90])
    with View(scene, "many", "-o", "soft") as view:
        session = view.open()
        assert session["picture"] is None and "p0.png" in session["error"]["message"]
        assert view.post("/api/open", index=1).json()["picture"]["width"] == 51


def test_what_cannot_begin_is_an_error_at_once(scene):
    scene.bad(1, "view", "none.png", "--no-browser", says="none.png")
    scene.bad(2, "view", "photo.png", "--filter", "blur", "--radius", "-1", "--no-browser", says="--radius")
    scene.bad(1, "view", "photo.png", "--filter", "guided", "--guide", "none.png", "--no-browser", says="none.png")
    scene.bad(2, "view", "photo.png", "--filter", "blurr", "--no-browser", says="blur")
    scene.bad(2, "view", "photo.png", "--filter", "stats", "--no-browser", says="picture")
    scene.bad(2, "view", "-", "--no-browser", says="standard input")
    scene.bad(2, "view", "--no-browser", says="input")
    scene.bad(2, "view", "photo.png", "--port", "70000", "--no-browser", says="--port")
    scene.bad(2, "view", "photo.png", "-o", "out.nothing", "--no-browser", says="out.nothing")


def test_without_its_module_the_command_says_which_package_is_missing(scene, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(BINARY, alone / "satin")
    done = subprocess.run([alone / "satin", "view", "photo.png", "--no-browser"], cwd=scene.folder, capture_output=True)
    assert done.returncode == 3 and b"libboost-dev" in done.stderr


def test_a_pipeline_may_be_the_start(scene):
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur radius=3 | threshold method=otsu") as view:
        session = view.open()
        assert [step["filter"] for step in session["settings"]["steps"]] == ["blur", "threshold"]
        check_true(scene, view, session["generation"], session["command"], "out.png")
