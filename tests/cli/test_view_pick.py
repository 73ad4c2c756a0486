"""Pictures that the page picks for a filter: those beside the open one, and files that are dropped on the page."""
import json
import os
import stat
import time
from pathlib import Path

import numpy as np
import pytest

import onnx_file
import png_file
from conftest import FULL_CODECS
from view_scene import check_true, scene, smooth  # noqa: F401 (scene is a fixture)
from view_server import View, needs_server

pytestmark = needs_server


def drop(view, data, extension="png", **changed):
    return view.ask("POST", "/api/drop?extension=" + extension, data, **{"Content-Type": "application/octet-stream", **changed})


def set_values(view, filter, **values):
    return view.post("/api/settings", steps=[{"filter": filter, "values": values}]).json()


@pytest.fixture
def stored(scene):
    """The folder in which dropped files are stored."""
    folder = scene.folder / "stored"
    folder.mkdir()
    scene.environment["TMPDIR"] = str(folder)
    return folder


def test_pictures_beside_the_open_one_are_listed_and_become_inputs(scene):
    folder = scene.folder / "many"
    for name in ("notes.txt", ".hidden.png", "a'b\u202e.png", "folder.png"):
        (folder / name).mkdir() if name.startswith("folder") else (folder / name).write_bytes(b"x")
    os.mkfifo(folder / "pipe.png")
    (folder / "dangling.png").symlink_to("nothing.png")
    depth = np.tile(np.linspace(0, 255, 50).astype(np.uint8), (40, 1))
    png_file.write(folder / "depth.png", depth)
    with View(scene, "many/p0.png", "-o", "out.png", "--filter", "blur") as view:
        view.open()
        told = view.ask("GET", "/api/beside").json()
        assert told == {"folder": "many/", "count": 4, "files": ["a'b\u202e.png", "depth.png", "p1.png", "p2.png"]}
        for name in ("depth.png", "many/depth.png"):
            done = set_values(view, "dof", depth=name, strength="4")
            assert done["error"] is None and done["command"].endswith("--depth many/depth.png") and done["line"]["unkept"] == []
        check_true(scene, view, done["generation"], done["command"], "out.png")
        for name in ("many/../photo.png", "../photo.png", "/etc/hostname", "many/folder.png", "many/depth.png\0"):
            assert set_values(view, "dof", depth=name)["error"]["parameter"] == "depth", name
        # What was picked is an input: it is not replaced, and the page may name it as the session does.
        reply = view.post("/api/save", name="depth.png", overwrite=True)
        assert reply.fields["x-satin-state"] == "refused" and "depth.png" in reply.json()["error"]["message"]
        png_file.write(folder / "depth.png", depth[::-1, ::-1])
        assert view.ask("GET", "/api/changes").json()["changed"] == ["depth"]


def test_long_lists_of_pictures_end_with_their_number(scene):
    for i in range(520):
        (scene.folder / ("x%03d.png" % i)).write_bytes(b"")
    with View(scene, "photo.png", "-o", "out.png") as view:
        view.open()
        told = view.ask("GET", "/api/beside").json()
    assert told["folder"] == "" and told["count"] == 521 and len(told["files"]) == 500
    assert told["files"][:2] == ["depth.png", "x000.png"]


def test_a_dropped_file_is_private_until_it_is_kept_and_goes_with_the_session(scene, stored):
    data = (scene.folder / "depth.png").read_bytes()
    with View(scene, "photo.png", "-o", "out.png") as view:
        view.open()
        files = [Path(drop(view, data).json()["file"]) for _ in range(2)]
        assert files[0] != files[1] and all(file.read_bytes() == data and stored in file.parents for file in files)
        assert all(stat.S_IMODE(file.parent.stat().st_mode) == 0o700 for file in files)
        done = set_values(view, "dof", depth=str(files[0]), strength="4")
        assert done["error"] is None and done["line"]["unkept"] == [str(files[0])]
        check_true(scene, view, done["generation"], done["command"], "out.png")
        ask = {"file": str(files[0])}
        for name in (None, 5, "", ".depth.png", "a/b.png", "../b.png", "a\0.png", "-", "{stem}.png", "x" * 300 + ".png"):
            reply = view.post("/api/keep", **ask, name=name)
            assert reply.fields["x-satin-state"] == "refused" and reply.json()["error"]["message"], name
        for file in (None, "depth.png", str(files[0]) + "x"):
            assert view.post("/api/keep", file=file, name="new.png").fields["x-satin-state"] == "refused"
        (scene.folder / "mine.png").write_bytes(b"mine")
        assert view.post("/api/keep", **ask, name="mine.png").json() == {"exists": "mine.png"}
        for name in ("photo.png", str(files[1].name)):
            (scene.folder / "dropped.png").unlink(missing_ok=True)
            (scene.folder / "dropped.png").symlink_to(files[1])
            assert view.post("/api/keep", **ask, name=name, overwrite=True).fields["x-satin-state"] == "refused", name
        assert np.array_equal(png_file.read(scene.folder / "photo.png"), smooth(120, 160))
        kept = view.post("/api/keep", **ask, name="mine.png", overwrite=True).json()
        assert kept["kept"] == "mine.png" and kept["line"]["unkept"] == [] and kept["command"].endswith("--depth mine.png")
        assert kept["generation"] > done["generation"] and (scene.folder / "mine.png").read_bytes() == data
        again = set_values(view, "dof", depth=str(files[0]), strength="5")  # an older state of the page
        assert again["command"].endswith("--depth mine.png") and again["line"]["unkept"] == []
        check_true(scene, view, again["generation"], again["command"], "out.png")
        odd = view.post("/api/keep", file=str(files[1]), name="it's \u202e.png").json()
        assert (scene.folder / odd["kept"]).read_bytes() == data
        view.end()
    assert list(stored.iterdir()) == [] and (scene.folder / "mine.png").exists()


def test_what_is_dropped_must_be_a_picture_within_the_limits(scene, stored):
    data = (scene.folder / "depth.png").read_bytes()
    with View(scene, "photo.png", "-o", "out.png", "--max-bytes", "60000") as view:
        view.open()
        for bad, extension in ((b"", "png"), (b"no picture", "png"), (data[:200], "png"), (data, "txt"), (data, ""), (b"x" * 60001, "png"),
                               (data, "/../../evil.png"), (data, "%2e%2e%2fevil.png")):
            reply = drop(view, bad, extension)
            assert reply.fields["x-satin-state"] == "refused" and reply.json()["error"]["message"], extension
        assert drop(view, data, **{"Content-Type": "application/json"}).status == 415
        assert view.ask("POST", "/api/settings", b"{}", **{"Content-Type": "application/octet-stream"}).status == 415
        assert drop(view, data, **{"X-Satin-Token": None}).status == 403
        assert drop(view, data, **{"Content-Length": None}).status == 411
        assert drop(view, b"", **{"Content-Length": str((256 << 20) + 1)}).status == 413
        assert view.ask("GET", "/api/drop?extension=png").status == 404
        assert list(stored.iterdir()) == []
        assert drop(view, data).status == 200
    assert list(stored.iterdir()) == []


def test_a_dropped_file_may_be_longer_than_other_bodies(scene, stored):
    noise = np.random.default_rng(1).integers(0, 256, (1800, 1800, 3), np.uint8)
    png_file.write(scene.folder / "large.png", noise)
    data = (scene.folder / "large.png").read_bytes()
    assert len(data) > 8 << 20
    with View(scene, "photo.png", "-o", "out.png") as view:
        view.open()
        assert Path(drop(view, data).json()["file"]).read_bytes() == data
        assert view.ask("POST", "/api/settings", data).status == 413


def test_no_dropped_file_is_left_after_two_signals(scene, stored):
    with View(scene, "photo.png", "-o", "out.png", "--filter", "blur") as view:
        view.open()
        drop(view, (scene.folder / "depth.png").read_bytes())
        points = (np.random.default_rng(3).random((190_000, 2)) * 100).round(1).tolist()
        body = {"strokes": [{"points": points, "radius": 4000, "hardness": 0.5, "erase": False}], "step": 0}
        with view.connect() as connection:
            connection.sendall(view.request("POST", "/api/mask", json.dumps(body).encode()))
            time.sleep(0.5)
            view.process.send_signal(2)
            time.sleep(0.3)
            view.end()
    assert list(stored.iterdir()) == []


@pytest.mark.skipif(not FULL_CODECS, reason="photographs need the codecs of SATIN_CODECS=FULL")
def test_a_photograph_says_whether_it_has_depth(scene):
    made = pytest.importorskip("photo_file")
    grey = smooth(60, 80)[:, :, 0]
    depth = made.gdepth(made.jpeg(grey), made.png(grey), made.jpeg(255 - grey))
    damaged = made.gdepth(made.jpeg(grey), made.png(grey), made.jpeg(grey)[:700])
    for name, data, has_depth in (("plain.jpg", made.jpeg(grey), False), ("depth.jpg", depth, True), ("damaged.jpg", damaged, False)):
        (scene.folder / name).write_bytes(data)
        with View(scene, name, "-o", "out.png", "--filter", "blur", "--radius", "3") as view:
            session = view.open()
            assert session["picture"]["has_depth"] is has_depth, name
            check_true(scene, view, session["generation"], session["command"], "out.png")
            done = set_values(view, "dof", **{"depth-from": "photo", "strength": "4"})
            assert done["error"] is None
            if has_depth:
                check_true(scene, view, done["generation"], done["command"], "out.png")


def test_depth_is_estimated_where_a_model_is_set(scene):
    if not json.loads(scene.good("devices", "--json").stdout)["onnxruntime"]["version"]:
        pytest.skip("no ONNX Runtime")
    with View(scene, "photo.png", "-o", "out.png") as view:
        assert view.open()["picture"]["has_model"] is False
        assert "SATIN_DEPTH_MODEL" in json.dumps([set_values(view, "dof", **{"depth-from": "model"}), view.open()])
    (scene.folder / "toy.onnx").write_bytes(onnx_file.luminance(30, 40))
    (scene.folder / "toy.json").write_text('{"output": "inverse depth"}')
    with View(scene, "photo.png", "-o", "out.png", "--model", "toy.onnx") as view:
        assert view.open()["picture"]["has_model"] is True
        assert "--model" not in set_values(view, "blur", radius="3")["command"]
        done = set_values(view, "dof", **{"depth-from": "model", "strength": "4%"})
        assert done["error"] is None and done["command"].endswith("--model toy.onnx"), done
        check_true(scene, view, done["generation"], done["command"], "out.png")
        assert view.ask("GET", "/api/found").json()["depth"]["lowest"] < 0  # ImageNet's mean was subtracted
        assert view.post("/api/command", text=done["command"]).json()["error"] is None
        other = view.post("/api/command", text=done["command"].replace("toy", "other")).json()
        assert "another model" in other["error"]["message"]
        assert set_values(view, "dof", **{"depth-from": "photo"})["error"] is None
