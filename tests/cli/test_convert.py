"""satin convert: files are read and written without a filter."""
import json
import os
from pathlib import Path

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS, files_below

DATA = Path(os.environ.get("SATIN_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "portrait"


@pytest.mark.parametrize("shape, dtype", [((9, 14), np.uint8), ((9, 14, 3), np.uint8), ((9, 14, 4), np.uint8),
                                          ((9, 14, 3), np.uint16), ((9, 14, 2), np.uint16)])
def test_values_stay(satin, noise, shape, dtype):
    array = noise(shape, dtype)
    png_file.write(satin.folder / "in.png", array)
    satin.good("convert", "in.png", "-o", "out.npy")
    assert np.array_equal(np.load(satin.folder / "out.npy"), array)
    for name in ["out.pam"] + (["out.tif"] if FULL_CODECS else []):
        satin.good("convert", "in.png", "-o", name)
        satin.good("convert", name, "-o", name + ".png")
        assert np.array_equal(png_file.read(satin.folder / (name + ".png")), array)


def test_floats_stay_even_those_that_filters_refuse(satin):
    array = np.array([[0, -1.5, np.nan], [np.inf, 1e-30, 3e30]], np.float32)
    np.save(satin.folder / "in.npy", array)
    satin.good("convert", "in.npy", "-o", "out.pfm")
    satin.good("convert", "out.pfm", "-o", "out.npy")
    assert np.load(satin.folder / "out.npy").tobytes() == array.tobytes()


def test_folders_and_the_options_of_batches(satin, noise):
    (satin.folder / "in" / "deep").mkdir(parents=True)
    for name in "a.png", "deep/b.png":
        png_file.write(satin.folder / "in" / name, noise((9, 14, 3)))
    report = json.loads(satin.good("convert", "in", "-r", "-o", "out/", "--format", "ppm", "--resume", "--json").stdout)
    assert report["pipeline"] == "convert" and [file["status"] for file in report["files"]] == ["done"] * 2
    assert files_below(satin.folder / "out") == [".satin-manifest", "a.ppm", "deep/b.ppm"]
    again = json.loads(satin.good("convert", "in", "-r", "-o", "out/", "--format", "ppm", "--resume", "--json").stdout)
    assert [file["status"] for file in again["files"]] == ["unchanged"] * 2
    satin.good("convert", "in", "-o", "{dir}/{stem}_{width}.bmp", "--dry-run")
    satin.bad(2, "convert", "in/a.png", "-o", "out/a.ppm", says="--overwrite")
    satin.bad(2, "convert", "in/a.png", "-o", "x.ppm", "--radius", "3", says="Unknown option --radius")
    satin.bad(2, "convert", says=["Usage: satin convert INPUT... -o OUTPUT", "satin help convert"])


@pytest.mark.skipif(not FULL_CODECS, reason="rows of TIFF are read by libtiff")
def test_rows(satin, noise):
    np.save(satin.folder / "in.npy", noise((300, 40, 3)))
    satin.good("convert", "in.npy", "-o", "rows.tif", "--stream", "--pyramid")
    satin.good("convert", "rows.tif", "-o", "out.npy")
    assert np.array_equal(np.load(satin.folder / "out.npy"), noise((300, 40, 3)))


@pytest.mark.skipif(not FULL_CODECS, reason="metadata needs the codecs of SATIN_CODECS=FULL")
def test_metadata_and_quality_travel(satin, tmp_path, noise):
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    exif[0x010E] = "A description"
    exif[0x0112] = 6
    image.fromarray(noise((16, 24, 3))).save(tmp_path / "in.jpg", quality=70, exif=exif, icc_profile=b"")
    satin.good("convert", "in.jpg", "-o", "out.jpg")
    out = image.open(tmp_path / "out.jpg")
    assert out.size == (16, 24) and out.getexif()[0x010E] == "A description" and out.getexif().get(0x0112, 1) == 1
    assert out.quantization == image.open(tmp_path / "in.jpg").quantization
    satin.good("convert", "in.jpg", "-o", "bare.jpg", "--strip")
    assert not image.open(tmp_path / "bare.jpg").getexif().get(0x010E)


@pytest.mark.skipif(not FULL_CODECS, reason="this build has no HEIC")
def test_a_photograph_of_a_phone(satin):
    photo = DATA / "pug.heic"
    if not photo.exists():
        pytest.skip("no %s" % photo)
    satin.good("convert", photo, "-o", "photo.jpg")
    shape = json.loads(satin.good("info", "photo.jpg", "--json").stdout)["files"][0]
    told = json.loads(satin.good("info", photo, "--json").stdout)["files"][0]
    assert (shape["format"], shape["width"], shape["height"]) == ("JPEG", told["width"], told["height"])
    result = satin.good("convert", photo, "-o", "folder/")
    assert "folder/" in str(files_below(satin.folder)) and "--format names another" in result.error


def test_it_is_a_command_and_no_filter(satin, picture):
    overview = satin.good("help").stdout.decode()
    assert "  convert " in overview.partition("\nCommands\n")[2]
    manual = satin.good("man").stdout.decode()
    assert "\n.SS convert " in manual.partition(".SH COMMANDS")[2]
    assert "convert" not in [each["name"] for each in json.loads(satin.good("list", "--json").stdout)["filters"]]
    assert b"convert" in satin.good("completion", "bash").stdout
    satin.bad(2, "run", "convert | blur", "in.png", "-o", "out.png", lines=4, says="'satin convert' reads and writes")
