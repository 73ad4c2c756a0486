"""--stream: pictures that are never whole in memory, and --pyramid."""
import json
import os
import signal
import time

import numpy as np
import pytest

import tiff_file
from conftest import FULL_CODECS, files_below
from test_interrupt import catches, wait_until
from test_memory import pytestmark as measures_memory
from test_memory import run as measured

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="this build has no TIFF")

SHAPES = {"grey": (701, 333), "colour": (523, 257, 3), "alpha": (643, 201, 4), "narrow": (2903, 3), "small": (1, 1)}


@pytest.fixture
def picture(satin, noise):
    """picture(shape, dtype): in.tif in strips, by the command itself, which keeps the alpha that PAM tells."""

    def make(shape, dtype=np.uint8, name="in.tif"):
        pixels = noise(shape, dtype)
        if len(shape) == 3 and shape[2] == 4:
            header = b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL %d\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
            data = header % (shape[1], shape[0], np.iinfo(dtype).max) + pixels.astype(pixels.dtype.newbyteorder(">")).tobytes()
            (satin.folder / "made.pam").write_bytes(data)
            satin.good("blur", "made.pam", "-o", name, "--radius", 0, "--overwrite")
        else:
            np.save(satin.folder / "made.npy", pixels)
            satin.good("blur", "made.npy", "-o", name, "--radius", 0, "--overwrite")
        return pixels

    return make


BLOCKS = {tiff_file.SUBFILE, tiff_file.ROWS, tiff_file.STRIPS, tiff_file.STRIP_BYTES, tiff_file.TILE_WIDTH, tiff_file.TILE_HEIGHT,
          tiff_file.TILES, tiff_file.TILE_BYTES}
EXIF_DIRECTORIES = {34665, 34853}  # places in the file


def assert_same_picture(whole, rows):
    """Pixels and tags but those of strips and tiles."""
    (one,), (other,) = tiff_file.pages(whole), tiff_file.pages(rows)
    assert other.tiled and not one.tiled
    np.testing.assert_array_equal(one.pixels(), other.pixels())
    own = [{tag: value for tag, value in page.tags.items() if tag not in BLOCKS | EXIF_DIRECTORIES} for page in (one, other)]
    assert own[0] == own[1]
    assert EXIF_DIRECTORIES & one.tags.keys() == EXIF_DIRECTORIES & other.tags.keys()


def command_and_options(line):
    """A pipeline stands before the input."""
    return (line[:2], line[2:]) if line[0] == "run" else (line[:1], line[1:])


def check(satin, *line, name="in.tif"):
    """The same picture and warnings whole and by rows; returns the second run."""
    command, rest = command_and_options(line)
    whole = satin.good(*command, name, "-o", "whole.tif", "--overwrite", *rest)
    rows = satin.good(*command, name, "-o", "rows.tif", "--overwrite", "--stream", *rest)
    assert_same_picture(satin.folder / "whole.tif", satin.folder / "rows.tif")
    assert whole.error == rows.error
    return rows


LINES = [["blur", "--radius", "7.5"], ["blur", "--radius", "3x40", "--space", "encoded"], ["blur", "--radius", "3%"],
         ["blur", "--sigma", "5", "--border", "mirror"], ["median", "--radius", "3"], ["unsharp", "--sigma", "2"],
         ["threshold", "--method", "otsu"], ["threshold", "--method", "wolf", "--window", "31"], ["erode", "--radius", "4"],
         ["normalize", "--window", "25"], ["integral"], ["run", "blur radius=3 | unsharp sigma=1.5 | threshold method=otsu"],
         ["guided", "--radius", "6"], ["local-deviation", "--window", "9"]]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
@pytest.mark.parametrize("kind", ["grey", "colour", "alpha"])
def test_the_pixels_are_those_of_the_whole(satin, picture, line, kind):
    picture(SHAPES[kind], np.uint16 if kind == "colour" else np.uint8)
    check(satin, *line)


@pytest.mark.parametrize("kind", ["narrow", "small"])
def test_odd_sizes(satin, picture, kind):
    picture(SHAPES[kind])
    check(satin, "blur", "--radius", "9")
    check(satin, "median", "--radius", "2")


@pytest.mark.parametrize("form", ["npy", "pgm", "pfm"])
def test_formats_that_are_mapped(satin, noise, form):
    pixels = noise((300, 201))
    if form == "npy":
        np.save(satin.folder / "in.npy", pixels)
    elif form == "pgm":
        (satin.folder / "in.pgm").write_bytes(b"P5\n201 300\n255\n" + pixels.tobytes())
    else:
        (satin.folder / "in.pfm").write_bytes(b"Pf\n201 300\n-1\n" + pixels.astype("<f4").tobytes())
    check(satin, "blur", "--radius", "4", name="in." + form)


def test_maps_and_masks(satin, picture, noise):
    shape = SHAPES["colour"]
    picture(shape)
    picture(shape[:2], name="map.tif")
    mask = np.where(noise(shape[:2]) > 200, 255, 0).astype(np.uint8)
    mask[:200] = 0
    np.save(satin.folder / "mask.npy", mask)
    np.save(satin.folder / "grey_mask.npy", mask[:, :, None].repeat(3, axis=2))  # one channel as three equal ones
    check(satin, "blur", "--radius-map", "map.tif", "--radius-max", "20")
    check(satin, "blur", "--radius", "5", "--mask", "mask.npy")
    check(satin, "blur", "--radius", "5", "--mask", "grey_mask.npy", "--mask-mode", "exclude")
    check(satin, "run", "blur radius=3 mask=mask.npy | unsharp sigma=2 mask=mask.npy")
    check(satin, "guided", "--radius", "5", "--guide", "map.tif")
    for wrong in ("in.tif", "made.npy"):
        satin.bad(2, "blur", "in.tif", "-o", "bad.tif", "--stream", "--mask", "in.tif", says=["in.tif", "colour"])
    np.save(satin.folder / "other.npy", mask[:100])
    satin.bad(2, "blur", "in.tif", "-o", "bad.tif", "--stream", "--mask", "other.npy", says=["257 x 100", "257 x 523"])
    satin.bad(2, "blur", "in.tif", "-o", "bad.tif", "--stream", "--radius-max", "9", says="radius")
    assert not (satin.folder / "bad.tif").exists()


def test_linear_light_of_the_profile_and_metadata(satin, noise):
    """A profile whose curve is not sRGB's, EXIF, XMP and a resolution."""
    image = pytest.importorskip("PIL.Image")
    from test_metadata import XMP, exif
    from icc_profile import gamma_profile
    block = exif(orientation=1)
    image.fromarray(noise((311, 97, 3))).save(satin.folder / "in.tif", icc_profile=gamma_profile(1.80078125),
                                              tiffinfo={700: XMP, **block}, dpi=(200, 200))
    check(satin, "blur", "--radius", "6")
    tags = tiff_file.pages(satin.folder / "rows.tif")[0].tags
    assert 34675 in tags and 700 in tags and 34665 in tags and 282 in tags
    blocks = [image.open(satin.folder / name).getexif() for name in ("whole.tif", "rows.tif")]
    for directory in EXIF_DIRECTORIES:
        assert blocks[0].get_ifd(directory) == blocks[1].get_ifd(directory) != {}
    check(satin, "run", "blur radius=6 | blur radius=2 space=encoded")
    assert "sRGB" in check(satin, "run", "blur radius=6 | median radius=2").error
    check(satin, "threshold", "--window", "15")  # grey: the profile goes
    assert 34675 not in tiff_file.pages(satin.folder / "rows.tif")[0].tags
    check(satin, "blur", "--radius", "6", "--strip")
    for name in ("whole", "rows"):
        os.utime(satin.folder / "in.tif", ns=(10**18, 10**18))
        satin.good("blur", "in.tif", "-o", name + ".tif", "--overwrite", *(["--stream"] if name == "rows" else []))
        assert (satin.folder / (name + ".tif")).stat().st_mtime_ns == 10**18


def test_floats(satin, noise):
    pixels = (noise((420, 130, 3), np.uint16) / 7).astype(np.float32)
    np.save(satin.folder / "in.npy", pixels)
    check(satin, "blur", "--radius", "5", name="in.npy")
    pixels[400, 5] = np.nan
    np.save(satin.folder / "in.npy", pixels)
    satin.bad(1, "blur", "in.npy", "-o", "bad.tif", "--stream", says=["in.npy", "NaN"])
    assert not (satin.folder / "bad.tif").exists()


def test_pages(satin, noise):
    image = pytest.importorskip("PIL.Image")
    one, two = (image.fromarray(noise((40 + i, 30), seed=i)) for i in range(2))
    one.save(satin.folder / "in.tif", save_all=True, append_images=[two])
    satin.bad(1, "blur", "in.tif", "-o", "out.tif", "--stream", says="--page")
    check(satin, "blur", "--page", "2")
    satin.bad(2, "blur", "in.tif", "-o", "out.tif", "--stream", "--all-pages", says=["--all-pages", "--page"])


@pytest.mark.parametrize("limit", ["300K", "2M"])
def test_the_memory_limit_is_obeyed(satin, picture, limit):
    picture((2000, 300))
    check(satin, "blur", "--radius", "20", "--memory-limit", limit, "--device", "cpu")


def test_too_little_memory_is_told(satin, picture):
    picture((900, 900))
    satin.bad(3, "blur", "in.tif", "-o", "out.tif", "--stream", "--radius", "300", "--memory-limit", "300K", "--device",
              "cpu", says=["rows", "memory limit"])
    assert not (satin.folder / "out.tif").exists()


def test_strips_above_the_memory_limit_are_refused_by_the_header(satin, noise, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    monkeypatch.setattr(pytest.importorskip("PIL.TiffImagePlugin"), "STRIP_SIZE", 1 << 30)
    image.fromarray(noise((1500, 1000))).save(satin.folder / "in.tif", compression="tiff_adobe_deflate")
    assert len(tiff_file.pages(satin.folder / "in.tif")[0].tags[tiff_file.STRIPS]) == 1
    check(satin, "blur", "--radius", "3")
    satin.bad(3, "blur", "in.tif", "-o", "out.tif", "--stream", "--radius", "3", "--memory-limit", "500K", "--device", "cpu",
              says=["strips", "memory limit", "smaller"])
    assert not (satin.folder / "out.tif").exists()


def test_damaged_files(satin, picture):
    picture((700, 300))
    page, = tiff_file.pages(satin.folder / "in.tif")
    data = bytearray((satin.folder / "in.tif").read_bytes())
    last = page.tags[tiff_file.STRIPS][-1]
    data[last:last + 20] = bytes(20)
    (satin.folder / "in.tif").write_bytes(data)
    satin.bad(1, "blur", "in.tif", "-o", "out.tif", "--stream", says="in.tif")
    assert not (satin.folder / "out.tif").exists()
    assert "Warning" in check(satin, "blur", "--radius", "3", "--allow-partial").error


REFUSED = [(["blur"], "out.jpg", ["out.jpg", ".tif"]), (["blur"], "out", ["out"]), (["blur"], "-", ["standard output", ".tif"]),
           (["blur", "--format", "png"], "out.tif", ["--format"]), (["blur", "--jpeg-quality", "90"], "out.tif", ["--jpeg-quality"]),
           (["blur", "--dither"], "out.tif", ["--dither"]), (["blur", "--gallery", "page.html"], "out.tif", ["--gallery"]),
           (["blur", "--border", "wrap"], "out.tif", ["wrap"]), (["dof", "--depth", "in.tif"], "out.tif", ["dof", "whole picture"]),
           (["smooth"], "out.tif", ["smooth", "whole picture"]), (["run", "blur | stats"], "out.tif", ["JSON"]),
           (["blur", "--part", "1"], "out.tif", ["--part"]), (["blur", "--mask-from", "matte"], "out.tif", ["--mask-from"]),
           (["blur", "--mask", "-"], "out.tif", ["--mask -", "Save it"])]


@pytest.mark.parametrize("line,output,says", REFUSED, ids=lambda value: " ".join(value) if isinstance(value, list) else value)
def test_what_does_not_go_is_refused(satin, picture, line, output, says):
    picture((40, 30))
    before = files_below(satin.folder)
    command, rest = command_and_options(line)
    satin.bad(2, *command, "in.tif", "-o", output, "--stream", *rest, says=says)
    assert files_below(satin.folder) == before


def test_inputs_that_are_not_read_by_rows(satin, picture):
    picture((40, 30))
    satin.good("blur", "in.tif", "-o", "in.png")
    satin.bad(2, "blur", "in.png", "-o", "out.tif", "--stream", says=["in.png", "PNG", "TIFF"])
    satin.bad(2, "blur", "in.tif", "-o", "out.tif", "--stream", "--mask", "in.png", says=["in.png", "TIFF"])
    satin.bad(2, "blur", "-", "-o", "out.tif", "--stream", says=["Standard input", "Save it"])
    assert not (satin.folder / "out.tif").exists()


def test_folders_resume_reports_and_dry_runs(satin, noise):
    (satin.folder / "in").mkdir()
    for i in range(3):
        np.save(satin.folder / "in" / ("%d.npy" % i), noise((90 + i, 70), seed=i))
    satin.good("blur", "in/0.npy", "-o", "in/bad.png")
    line = ["blur", "in", "-o", "out", "--stream", "--pyramid", "--radius", "3", "--json"]
    lines = satin("blur", "in", "-o", "out", "--stream", "--dry-run").stdout.decode().splitlines()
    assert sum("write" in line for line in lines) == 3 and sum("fail" in line for line in lines) == 1
    result = satin(*line, "--resume", "--report", "report.jsonl")
    assert result.returncode == 1 and "bad.png" in result.error
    files = {os.path.basename(file["input"]): file for file in json.loads(result.stdout)["files"]}
    assert [files["%d.npy" % i]["status"] for i in range(3)] == ["done"] * 3
    assert files["bad.png"]["status"] == "failed"
    assert files_below(satin.folder / "out") == [".satin-manifest", "0.tif", "1.tif", "2.tif"]
    assert len((satin.folder / "report.jsonl").read_text().splitlines()) == 5
    os.remove(satin.folder / "in" / "bad.png")
    again = json.loads(satin.good(*line, "--resume").stdout)
    assert [file["status"] for file in again["files"]] == ["unchanged"] * 3
    (satin.folder / "out" / "1.tif").write_bytes(b"cut")
    again = json.loads(satin.good(*line, "--resume").stdout)
    assert [file["status"] for file in again["files"]] == ["unchanged", "done", "unchanged"]
    satin.good("blur", "in/1.npy", "-o", "whole.tif", "--radius", "3")
    np.testing.assert_array_equal(tiff_file.pages(satin.folder / "out" / "1.tif")[0].pixels(),
                                  tiff_file.pages(satin.folder / "whole.tif")[0].pixels())
    satin.bad(2, "blur", "in", "-o", "out2", "--stream", "--border", "wrap", says="wrap")  # once, before any file
    satin.bad(2, "blur", "in", "-o", "{dir}/{stem}_soft.jpg", "--stream", says=".tif")
    satin.good("blur", "in", "-o", "{dir}/{stem}_soft.{ext}", "--stream")
    assert (satin.folder / "in" / "2_soft.tif").exists()


def halved(pixels):
    """The mean of every four pixels, ties up; at an odd end those that there are."""
    padded = np.pad(pixels.astype(np.int64), ((0, pixels.shape[0] % 2), (0, pixels.shape[1] % 2)), mode="edge")
    sums = padded[0::2, 0::2] + padded[1::2, 0::2] + padded[0::2, 1::2] + padded[1::2, 1::2]
    return ((sums + 2) // 4).astype(pixels.dtype)


@pytest.mark.parametrize("options", [[], ["--stream"]], ids=["whole", "stream"])
def test_pyramid(satin, picture, options):
    picture((1300, 2048))
    satin.good("blur", "in.tif", "-o", "out.tif", "--radius", "2", "--pyramid", *options)
    satin.good("blur", "in.tif", "-o", "whole.tif", "--radius", "2")
    levels = tiff_file.pages(satin.folder / "out.tif")
    assert [(level.width, level.height) for level in levels] == [(2048, 1300), (1024, 650), (512, 325), (256, 163)]
    assert [level.reduced for level in levels] == [False, True, True, True]
    expected = tiff_file.pages(satin.folder / "whole.tif")[0].pixels()
    for level in levels:
        np.testing.assert_array_equal(level.pixels(), expected)
        expected = halved(expected)
    satin.good("blur", "out.tif", "-o", "again.tif", "--radius", "0", *options)  # a pyramid is one picture
    satin.bad(2, "integral", "in.tif", "-o", "table.tif", "--pyramid", *options, says=["pyramid", "u32"])
    for bad in ("out.jpg", "-"):
        satin.bad(2, "blur", "in.tif", "-o", bad, "--pyramid", *options, says=".tif")


WIDTH, HEIGHT = 20000, 5000
LARGE = WIDTH * HEIGHT


def write_large(path):
    rows = np.random.default_rng(5).integers(0, 256, (512, WIDTH), np.uint8)
    with open(path, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT))
        for first in range(0, HEIGHT, 512):
            file.write(np.roll(rows, first // 512 * 77, axis=1)[:HEIGHT - first].tobytes())


@measures_memory
def test_a_tenth_of_a_gigapixel_in_150_megabytes(satin):
    write_large(satin.folder / "in.pgm")
    result = measured(satin, "blur", "in.pgm", "-o", "out.tif", "--radius", "12", "--stream", "--device", "cpu")
    assert result.returncode == 0, result.error
    assert result.peak < 150e6, result.peak
    page, = tiff_file.pages(satin.folder / "out.tif")
    assert (page.width, page.height, page.tiled) == (WIDTH, HEIGHT, True)
    # A crop that lies across bands, by the rows around it alone.
    with open(satin.folder / "in.pgm", "rb") as file:
        pixels = np.frombuffer(file.read()[-LARGE:], np.uint8).reshape(HEIGHT, WIDTH)
    (satin.folder / "crop.pgm").write_bytes(b"P5\n600 900\n255\n" + pixels[2000:2900, 7000:7600].tobytes())
    satin.good("blur", "crop.pgm", "-o", "crop.tif", "--radius", "12")
    expected = tiff_file.pages(satin.folder / "crop.tif")[0].pixels()[12:-12, 12:-12]
    np.testing.assert_array_equal(page.crop(7012, 2012, 576, 876), expected)


def start_long(satin, *options):
    """A run of many seconds, which writes already."""
    write_large(satin.folder / "in.pgm")
    process = satin.start("run", "median radius=40 | median radius=41 | median radius=42", "in.pgm", "-o", "out.tif", "--stream",
                          "--device", "cpu", "--threads", "1", *options)
    wait_until(lambda: any(name.endswith(".tmp") for name in files_below(satin.folder)) and catches(process, signal.SIGINT))
    time.sleep(0.3)
    assert process.poll() is None
    return process


def test_a_killed_run_leaves_no_output(satin):
    process = start_long(satin, "--resume")
    process.kill()
    process.communicate()
    assert not (satin.folder / "out.tif").exists()
    (satin.folder / "in.pgm").write_bytes(b"P5\n40 30\n255\n" + bytes(1200))
    satin.good("blur", "in.pgm", "-o", "out.tif", "--stream", "--resume")
    assert files_below(satin.folder) == [".satin-manifest", "in.pgm", "out.tif"]


def test_a_signal_removes_what_is_written(satin):
    process = start_long(satin)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130 and b"nterrupted" in error
    assert time.monotonic() - sent < 5
    assert files_below(satin.folder) == ["in.pgm"]
