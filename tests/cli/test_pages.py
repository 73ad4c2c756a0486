"""Files of several pictures, the pages of a TIFF and the parts of an OpenEXR, and where OpenEXR places a picture."""
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import exr_file
import photo_file
from conftest import FULL_CODECS, files_below

Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="this build has neither TIFF nor OpenEXR")

DATA = Path(os.environ.get("SATIN_TEST_DATA", Path(__file__).parents[2].parent / "shared/data"))
SHAPES = [(20, 30, 3), (11, 12), (9, 8, 4)]


@pytest.fixture
def pages(noise):
    return [noise(shape, seed=seed) for seed, shape in enumerate(SHAPES)]


@pytest.fixture
def stack(tmp_path, pages):
    """stack.tif, of three pages of different sizes."""
    first, *others = map(Image.fromarray, pages)
    first.save(tmp_path / "stack.tif", save_all=True, append_images=others)
    return tmp_path / "stack.tif"


@pytest.fixture
def parts(tmp_path, noise):
    """parts.exr: a beauty pass, and depth in a window of its own."""
    display = (0, 0, 39, 29)
    made = [{"name": "beauty", "view": "left", "display": display,
             "channels": {name: noise((30, 40), seed=ord(name)) / 255 for name in "RGB"}},
            {"name": "depth", "display": display, "data": (5, 3, 24, 17), "channels": {"Z": noise((15, 20)) + 1.0}}]
    exr_file.write_parts(tmp_path / "parts.exr", made)
    return made


def pages_of(path):
    """The pages as Pillow reads them."""
    with Image.open(path) as file:
        found = []
        for index in range(file.n_frames):
            file.seek(index)
            found.append(np.array(file))
        return found


def same(some, others):
    assert len(some) == len(others)
    for one, other in zip(some, others):
        np.testing.assert_array_equal(one, other)


def tool(name, *arguments):
    if shutil.which(name) is None:
        pytest.skip("no " + name)
    return subprocess.run([name, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=60).stdout


def test_several_pages_or_parts_are_refused_with_the_remedy(satin, stack, parts):
    satin.bad(1, "blur", "stack.tif", "-o", "out.tif", "--radius", "1", lines=1,
              says=["stack.tif", "3 pages", "--page N", "--all-pages"])
    satin.bad(1, "blur", "parts.exr", "-o", "out.exr", "--radius", "1", lines=1,
              says=["parts.exr", "2 parts ('beauty', 'depth')", "--part N|NAME", "--all-pages"])
    for command in "stats", "regions":
        satin.bad(1, command, "stack.tif", says="--page N")
    satin.bad(1, "bins", "stack.tif", "-o", "bins", says="--page N")
    satin.bad(1, "blur", "-", "-o", "-", "--format", "tif", "--radius", "1", stdin=stack.read_bytes(), says="3 pages")
    assert files_below(satin.folder) == ["parts.exr", "stack.tif"]


def test_a_page_is_chosen(satin, stack, pages):
    for number, page in enumerate(pages, 1):
        satin.good("blur", "stack.tif", "-o", "out.tif", "--radius", "0", "--page", number, "--overwrite")
        same(pages_of(satin.folder / "out.tif"), [page])
    result = satin.good("blur", "-", "-o", "-", "--format", "tif", "--radius", "0", "--page", "2",
                        stdin=stack.read_bytes())
    np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(result.stdout))), pages[1])


def test_a_part_is_chosen_by_name_or_number(satin, parts):
    for choice, part in [("beauty", parts[0]), ("1", parts[0]), ("depth", parts[1]), ("2", parts[1])]:
        satin.good("blur", "parts.exr", "-o", "out.exr", "--radius", "0", "--part", choice, "--overwrite")
        found, = exr_file.read(satin.folder / "out.exr")
        assert found["name"] == part["name"] and found["display"] == part["display"]
        assert sorted(found["channels"]) == sorted(part["channels"])
        for name, plane in part["channels"].items():
            np.testing.assert_array_equal(found["channels"][name], np.float32(plane))


@pytest.mark.parametrize("arguments, says", [
    (["stack.tif", "--page", "0"], "--page '0'"),
    (["stack.tif", "--page", "-1"], "--page '-1'"),
    (["stack.tif", "--page", "two"], "--page 'two'"),
    (["stack.tif", "--page", "9"], ["stack.tif", "no page 9", "3 pages"]),
    (["stack.tif", "--part", "beauty"], "pages, not parts"),
    (["stack.tif", "--page", "1", "--all-pages"], "--all-pages"),
    (["stack.tif", "--page", "1", "--part", "1"], "--part"),
    (["parts.exr", "--part", "beuty"], ["parts.exr", "no part 'beuty'", "mean 'beauty'", "'depth'"]),
    (["parts.exr", "--part", "3"], ["no part '3'", "2 parts"]),
    (["parts.exr", "--part", "0"], ["no part '0'", "from 1"]),
    (["parts.exr", "--part", ""], "--part ''"),
    (["parts.exr", "--page", "1"], "parts, not pages"),
    (["in.png", "--page", "2"], "PNG files hold one picture"),
    (["in.png", "--part", "beauty"], "PNG files have no parts"),
])
def test_a_wrong_choice_is_a_usage_error(satin, stack, parts, picture, arguments, says):
    before = files_below(satin.folder)
    for dry in [], ["--dry-run"]:
        satin.bad(2, "blur", "-o", "out.tif", "--radius", "1", *arguments, *dry, says=says)
    satin.bad(2, "stats", *arguments, says=says)
    assert files_below(satin.folder) == before


def test_files_of_one_picture_are_as_before(satin, picture, noise):
    Image.fromarray(noise((9, 9, 3))).save(satin.folder / "one.tif")
    exr_file.write(satin.folder / "one.exr", {"Y": noise((9, 9)) / 255})
    for name in "one.tif", "one.exr", "in.png":
        form = name.split(".")[1]
        plain = ["blur", name, "-o", "-", "--format", form, "--radius", "2"]
        wanted = satin.good(*plain).stdout
        for choice in ["--page", "1"], ["--all-pages"]:
            assert satin.good(*plain, *choice).stdout == wanted
    satin.good("blur", "one.tif", "-o", "out.tif", "--radius", "2")
    with Image.open(satin.folder / "out.tif") as file:
        assert file.n_frames == 1 and 297 not in file.tag_v2  # PageNumber


def test_all_pages_go_into_one_file(satin, stack, pages):
    satin.good("blur", "stack.tif", "-o", "same.tif", "--radius", "0", "--all-pages")
    same(pages_of(satin.folder / "same.tif"), pages)
    listing = tool("tiffinfo", satin.folder / "same.tif")
    assert [line.split()[-1] for line in listing.splitlines() if "Page Number" in line] == ["0-3", "1-3", "2-3"]
    assert listing.count("multi-page document") == 3
    satin.good("blur", "stack.tif", "-o", "all.tif", "--radius", "2", "--all-pages")
    for number in 1, 2, 3:
        satin.good("blur", "stack.tif", "-o", "%d.tif" % number, "--radius", "2", "--page", number)
    same(pages_of(satin.folder / "all.tif"), [pages_of(satin.folder / ("%d.tif" % n))[0] for n in (1, 2, 3)])


def test_all_parts_go_into_one_file(satin, parts):
    satin.good("blur", "parts.exr", "-o", "all.exr", "--radius", "0", "--all-pages")
    found = exr_file.read(satin.folder / "all.exr")
    for part, wanted in zip(found, parts):
        for key in "name", "view", "display":
            assert part[key] == wanted.get(key, "")
        for name, plane in wanted["channels"].items():
            np.testing.assert_array_equal(part["channels"][name], np.float32(plane))
    assert found[1]["data"] == (5, 3, 24, 17) and list(found[1]["channels"]) == ["Z"]
    listing = tool("exrheader", satin.folder / "all.exr")
    assert "part 1" in listing and '"depth"' in listing and "(5 3) - (24 17)" in listing


def test_redacted_parts_have_no_names(satin, parts):
    """A name may tell what is in the picture."""
    satin.good("redact", "parts.exr", "-o", "all.exr", "--box", "0,0,4,4", "--all-pages")
    found = exr_file.read(satin.folder / "all.exr")
    assert [(part["name"], part["view"]) for part in found] == [("1", ""), ("2", "")]
    assert [part["data"] for part in found] == [(0, 0, 39, 29), (5, 3, 24, 17)]
    satin.good("redact", "parts.exr", "-o", "one.exr", "--box", "0,0,4,4", "--part", "beauty")
    assert exr_file.read(satin.folder / "one.exr")[0]["name"] == ""


def test_pages_become_parts_with_a_display_window_that_holds_all(satin, stack):
    satin.good("blur", "stack.tif", "-o", "all.exr", "--radius", "0", "--all-pages")
    found = exr_file.read(satin.folder / "all.exr")
    assert [part["name"] for part in found] == ["1", "2", "3"]
    assert {part["display"] for part in found} == {(0, 0, 29, 19)}
    assert [part["data"] for part in found] == [(0, 0, 29, 19), (0, 0, 11, 10), (0, 0, 7, 8)]
    assert "OpenEXR" not in satin.bad(2, "blur", "stack.tif", "-o", "all.png", "--radius", "0", "--all-pages",
                                      says=["all.png", "PNG", ".tiff"]).error
    assert files_below(satin.folder) == ["all.exr", "stack.tif"]


def test_every_page_keeps_its_own_metadata(satin, stack):
    texts = ["first page", "second page", "third page"]
    for index, text in enumerate(texts):
        tool("tiffset", "-d", index, "-s", "270", text, stack)
    satin.good("blur", "stack.tif", "-o", "all.tif", "--radius", "1", "--all-pages")
    with Image.open(satin.folder / "all.tif") as file:
        assert file.n_frames == 3
        for index, text in enumerate(texts):
            file.seek(index)
            assert file.tag_v2[270] == text
    for number, text in enumerate(texts, 1):
        satin.good("blur", "stack.tif", "-o", "one.tif", "--radius", "1", "--page", number, "--overwrite")
        with Image.open(satin.folder / "one.tif") as file:
            assert file.n_frames == 1 and file.tag_v2[270] == text


def test_the_page_that_cannot_be_read_is_named(satin, stack):
    tool("tiffset", "-d", 1, "-s", "262", "9", stack)  # ICC L*a*b*
    satin.bad(1, "blur", "stack.tif", "-o", "out.tif", "--radius", "1", "--all-pages", says="stack.tif, page 2: ")
    satin.bad(1, "blur", "stack.tif", "-o", "out.tif", "--radius", "1", "--page", "2", says="stack.tif: ")
    satin.good("blur", "stack.tif", "-o", "out.tif", "--radius", "1", "--page", "3")


def test_a_folder_goes_on_without_what_has_several_pages(satin, stack, picture, pages):
    (satin.folder / "in").mkdir()
    for name in "stack.tif", "in.png":
        shutil.move(satin.folder / name, satin.folder / "in" / name)
    run = ["blur", "in", "-o", "out", "--radius", "1", "--report", "report.jsonl"]
    dry = satin("blur", "in", "-o", "out", "--radius", "1", "--dry-run")
    assert dry.returncode == 1 and "3 pages" in dry.error and files_below(satin.folder) == ["in/in.png", "in/stack.tif"]
    satin.bad(1, *run, says=["3 pages", "1 of 2 files failed"])
    assert files_below(satin.folder / "out") == ["in.png"]
    lines = [json.loads(line) for line in (satin.folder / "report.jsonl").read_text().splitlines()]
    assert "3 pages" in lines[1]["error"]["message"] and lines[1]["status"] == "failed"
    satin.good(*run, "--all-pages", "--overwrite")
    lines = [json.loads(line) for line in (satin.folder / "report.jsonl").read_text().splitlines()]
    assert lines[1]["pages"] == 3 and "pages" not in lines[0]
    assert len(pages_of(satin.folder / "out" / "stack.tif")) == 3


def test_resume_makes_another_page_again(satin, stack, pages):
    run = ["blur", "stack.tif", "-o", "out/", "--radius", "0", "--resume", "--json", "--page"]
    assert json.loads(satin.good(*run, "1").stdout)["files"][0]["status"] == "done"
    assert json.loads(satin.good(*run, "1").stdout)["files"][0]["status"] == "unchanged"
    assert json.loads(satin.good(*run, "3").stdout)["files"][0]["status"] == "done"
    same(pages_of(satin.folder / "out" / "stack.tif"), [pages[2]])
    again = satin.good(*run[:-1], "--all-pages")
    assert json.loads(again.stdout)["files"][0]["status"] == "done"
    same(pages_of(satin.folder / "out" / "stack.tif"), pages)


def test_side_inputs_of_several_pages_are_refused(satin, stack, picture):
    for choice in [], ["--page", "1"], ["--all-pages"]:
        satin.bad(1, "blur", "in.png", "-o", "out.png", "--radius", "1", "--mask", "stack.tif", *choice,
                  says=["stack.tif", "3 pages", "a file of its own"])
        satin.bad(1, "stats", "in.png", "--mask", "stack.tif", *choice, says=["stack.tif", "a file of its own"])
    satin.bad(1, "regions", "in.png", "--image", "stack.tif", says=["stack.tif", "a file of its own"])


def test_analyses_take_a_page_or_all(satin, stack, pages):
    one = json.loads(satin.good("stats", "stack.tif", "--page", "2", "--json").stdout)["files"]
    every = json.loads(satin.good("stats", "stack.tif", "--all-pages", "--json").stdout)["files"]
    assert [entry["page"] for entry in every] == [1, 2, 3] and "page" not in one[0]
    assert [(entry["height"], entry["width"]) for entry in every] == [page.shape[:2] for page in pages]
    assert {key: value for key, value in every[1].items() if key != "page"} == one[0]
    listed = json.loads(satin.good("regions", "stack.tif", "--all-pages").stdout)["files"]
    second = json.loads(satin.good("regions", "stack.tif", "--page", "2").stdout)
    assert [entry["page"] for entry in listed] == [1, 2, 3] and listed[1]["regions"] == second["regions"]
    satin.good("bins", "stack.tif", "-o", "bins", "--all-pages", "--bins", "2")
    satin.good("bins", "stack.tif", "-o", "two", "--page", "2", "--bins", "2")
    for name in files_below(satin.folder / "two"):
        assert (satin.folder / "bins/stack/page_2" / name).read_bytes() == (satin.folder / "two" / name).read_bytes()
    chain = json.loads(satin.good("run", "blur radius=0 | regions", "stack.tif", "-o", "-", "--all-pages").stdout)
    assert [page["regions"] for page in chain["pages"]] == [entry["regions"] for entry in listed]


@pytest.mark.parametrize("data", [(0, 0, 19, 11), (5, 3, 24, 14), (-7, -5, 12, 6)])
def test_openexr_keeps_its_windows(satin, noise, data):
    display = (-1, 0, 47, 31)
    exr_file.write(satin.folder / "in.exr", {name: noise((12, 20), seed=ord(name)) / 255 for name in "RGBA"},
                   data=data, display=display)
    satin.good("blur", "in.exr", "-o", "out.exr", "--radius", "2")
    found, = exr_file.read(satin.folder / "out.exr")
    assert (found["data"], found["display"]) == (data, display)
    listing = tool("exrheader", satin.folder / "out.exr")
    assert "displayWindow (type box2i): (-1 0) - (47 31)" in listing
    assert "data window" in satin.good("blur", "in.exr", "-o", "out.tif", "--radius", "2").error


@pytest.mark.parametrize("channel", ["Z", "id", "R", "depth.V"])
def test_the_only_channel_of_openexr_keeps_its_name(satin, noise, channel):
    plane = np.float32(noise((12, 20)))
    exr_file.write(satin.folder / "in.exr", {channel: plane})
    satin.good("blur", "in.exr", "-o", "out.exr", "--radius", "0")
    found, = exr_file.read(satin.folder / "out.exr")
    assert list(found["channels"]) == [channel]
    np.testing.assert_array_equal(found["channels"][channel], plane)


def test_a_real_render_keeps_its_windows(satin):
    render = DATA / "exr/beachball_singlepart_rgbz.exr"
    if not render.exists():
        pytest.skip("no %s" % render)
    satin.good("blur", render, "-o", "out.exr", "--radius", "1")

    def told(path):
        lines = tool("exrheader", path).splitlines()
        return [line for line in lines if "Window" in line or "sampling" in line or line.startswith("name")]

    names = [[line.split(",")[0] for line in told(path)] for path in (render, satin.folder / "out.exr")]
    assert names[0] == names[1]


def test_pictures_of_a_pnm_stream_are_pages(satin, noise):
    """Pictures come one after another, as ffmpeg writes them into a pipe."""
    pictures = [noise((4, 5, 3), seed=1), noise((6, 2), np.uint16, seed=2), noise((3, 3, 3), seed=3)]
    stream = b"".join(b"P%d %d %d %d\n" % (6 if picture.ndim == 3 else 5, picture.shape[1], picture.shape[0],
                                           np.iinfo(picture.dtype).max) +
                      picture.astype(picture.dtype.newbyteorder(">")).tobytes() for picture in pictures)
    run = ["blur", "-", "-o", "-", "--radius", "0", "--format"]
    satin.bad(1, *run, "ppm", stdin=stream, says=["3 pages", "--page N"])
    satin.bad(1, *run, "ppm", stdin=stream[:-1], says="3 pages")
    satin.bad(2, *run, "ppm", "--all-pages", stdin=stream, says="PPM files hold one picture")
    for page, picture in enumerate(pictures, 1):
        written = satin.good(*run, "npy", "--page", page, stdin=stream).stdout
        np.testing.assert_array_equal(np.load(io.BytesIO(written)).reshape(picture.shape), picture)
    only = stream[:len(b"P6 5 4 255\n") + pictures[0].size]
    assert satin.good(*run, "ppm", stdin=only + b"the end").stdout == satin.good(*run, "ppm", stdin=only).stdout


def test_a_gallery_shows_the_first_page_also_of_what_was_left_out(satin, stack):
    run = ["blur", "stack.tif", "-o", "out/", "--radius", "1", "--resume", "--gallery", "page.html"]
    for choice in ["--all-pages"], ["--page", "2"]:
        satin.good(*run, *choice)
        shown = files_below(satin.folder / "page_files")
        assert len(shown) == 2
        before = [(satin.folder / "page_files" / name).read_bytes() for name in shown]
        shutil.rmtree(satin.folder / "page_files")
        satin.good(*run, *choice)
        assert [(satin.folder / "page_files" / name).read_bytes() for name in shown] == before


@pytest.fixture
def colours():
    """Pictures of one colour each, which JPEG keeps to a code."""
    return [np.full((16, 24, 3), value, np.uint8) for value in (40, 120, 200)]


def told(satin, name):
    (file,) = json.loads(satin.good("info", "--json", name).stdout)["files"]
    return file


@pytest.mark.parametrize("kind", [0, 0x020001, 0x020002, 0x020003])
def test_further_pictures_of_an_mpo_are_pages(satin, colours, kind):
    first, *others = map(photo_file.jpeg, colours)
    (satin.folder / "in.mpo").write_bytes(photo_file.apple(first, others, kind))
    assert told(satin, "in.mpo")["pages"] == 3 and told(satin, "in.mpo")["warnings"] == []
    result = satin.good("blur", "in.mpo", "-o", "out.jpg", "--radius", "0")
    assert result.error.count("2 further pictures") == 1 and "--all-pages" in result.error
    for number, wanted in enumerate(colours, 1):
        result = satin.good("blur", "in.mpo", "-o", "out.png", "--radius", "0", "--page", number, "--overwrite")
        assert "further" not in result.error
        assert np.abs(pages_of(satin.folder / "out.png")[0].astype(int) - wanted).max() <= 1
    satin.bad(2, "blur", "in.mpo", "-o", "none.png", "--radius", "0", "--page", "4", says=["no page 4", "3 pages"])
    satin.good("blur", "in.mpo", "-o", "out.tif", "--radius", "0", "--all-pages")
    for page, wanted in zip(pages_of(satin.folder / "out.tif"), colours, strict=True):
        assert np.abs(page.astype(int) - wanted).max() <= 1
    before = files_below(satin.folder)
    for dry in [], ["--dry-run"]:
        satin.bad(2, "blur", "in.mpo", "-o", "all.jpg", "--radius", "0", "--all-pages", *dry, says="JPEG files hold one")
    assert files_below(satin.folder) == before


def test_thumbnails_gain_maps_depth_and_mattes_of_a_jpeg_are_no_pages(satin, colours):
    first, other, _ = map(photo_file.jpeg, colours)
    iso = photo_file.with_segments(other, [photo_file.segment(0xE2, b"urn:iso:std:iso:ts:21496:-1\0" + bytes(4))])
    adobe = photo_file.with_segments(other, [photo_file.segment(
        0xE1, photo_file.XMP + b'<x xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"/>')])
    depth = photo_file.auxiliary(colours[1], "disparity", NativeFormat=1751411059)
    for further, kind in [(other, 0x010001), (other, 0x010002), (other, 0x050000), (iso, 0), (adobe, 0), (depth, 0)]:
        (satin.folder / "in.jpg").write_bytes(photo_file.apple(first, [further], kind))
        assert told(satin, "in.jpg")["pages"] == 1
        result = satin.good("blur", "in.jpg", "-o", "out.jpg", "--radius", "0", "--overwrite")
        assert "further" not in result.error


def test_an_index_that_leads_nowhere_names_no_pages(satin, colours):
    """Programs that do not know the index leave it as it was."""
    first, other, _ = map(photo_file.jpeg, colours)
    whole = photo_file.apple(first, [other])
    (satin.folder / "in.jpg").write_bytes(whole[:-len(other)])
    assert told(satin, "in.jpg")["pages"] == 1
    (satin.folder / "in.jpg").write_bytes(whole[:-len(other)] + bytes(len(other)))
    assert told(satin, "in.jpg")["pages"] == 1
    (satin.folder / "in.jpg").write_bytes(whole[:-100])
    satin.bad(1, "blur", "in.jpg", "-o", "out.png", "--radius", "0", "--page", "2", says="ends before")


@pytest.mark.parametrize("name, pages", [("two_frames.mpo", 2), ("three_pictures.heic", 3), ("sequence3.avif", 1)])
def test_info_and_page_agree_on_real_files(satin, name, pages):
    path = DATA / "faults" / name
    if not path.exists():
        pytest.skip("no %s" % path)
    info = told(satin, path)
    assert info["pages"] == pages
    assert ["sequence of 3 pictures" in text for text in info["warnings"]] == [True] * (pages == 1)
    satin.good("blur", path, "-o", "out.tif", "--radius", "0", "--all-pages")
    found = pages_of(satin.folder / "out.tif")
    assert len(found) == pages
    for number, wanted in enumerate(found, 1):
        satin.good("blur", path, "-o", "out.png", "--radius", "0", "--page", number, "--overwrite")
        same(pages_of(satin.folder / "out.png"), [wanted])
    satin.bad(2, "blur", path, "-o", "none.png", "--radius", "0", "--page", pages + 1, says="no page")


def test_a_mask_of_several_pictures_is_its_chief_one(satin, colours, picture):
    first, other, _ = (photo_file.jpeg(np.zeros((12, 20), np.uint8) + value) for value in (0, 255, 255))
    (satin.folder / "mask.jpg").write_bytes(photo_file.apple(first, [other]))
    satin.good("blur", "in.png", "-o", "out.png", "--radius", "3", "--mask", "mask.jpg")
    same(pages_of(satin.folder / "out.png"), pages_of(satin.folder / "in.png"))
