"""satin info: what is in a file."""
import json
import shutil
import subprocess

import numpy as np
import pytest

import exr_file
import png_file
from conftest import FULL_CODECS
from test_heif import DATA, heif

needs_heif = pytest.mark.skipif(not FULL_CODECS or shutil.which("heif-enc") is None, reason="no HEIC, or no heif-enc")
needs_photographs = pytest.mark.skipif(not FULL_CODECS or not DATA.is_dir(), reason="no HEIC, or no folder %s" % DATA)


def info(satin, *arguments):
    return json.loads(satin.good("info", *arguments, "--json").stdout)["files"]


def test_a_picture_without_anything_else(satin, picture):
    (file,) = info(satin, "in.png")
    assert file["input"] == "in.png" and file["format"] == "PNG" and file["bytes"] == picture.stat().st_size
    assert [file[key] for key in ["width", "height", "channels", "type", "alpha"]] == [20, 12, 3, "u8", "none"]
    assert [file[key] for key in ["orientation", "pages", "profile", "depth", "original", "focus"]] == [1, 1] + [None] * 4
    assert file["mattes"] == file["warnings"] == file["named_channels"] == [] and file["gain_map"] is False
    assert file["metadata"] == {"exif": 0, "xmp": 0, "iptc": 0, "icc": 0}


def test_the_table(satin, noise):
    png_file.write(satin.folder / "a.png", noise((4, 6, 4), np.uint16))
    text = satin.good("info", "a.png").stdout.decode()
    assert text.splitlines()[0] == "a.png"
    assert "PNG" in text and "6 x 4" in text and "u16" in text and "straight alpha" in text and "depth" not in text


@pytest.mark.skipif(not FULL_CODECS, reason="this build has no OpenEXR")
def test_channels_of_openexr(satin):
    ones = np.ones((3, 5), np.float32)
    exr_file.write(satin.folder / "z.exr", {"R": ones, "G": ones, "B": ones, "Z": ones})
    (file,) = info(satin, "z.exr")
    assert file["named_channels"] == ["Z"] and file["type"] == "f32" and file["format"] == "OpenEXR"


@pytest.mark.skipif(not FULL_CODECS, reason="this build keeps no EXIF")
def test_orientation_and_blocks(satin, noise):
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    exif[0x0112] = 6
    image.fromarray(noise((12, 20, 3))).save(satin.folder / "a.jpg", exif=exif)
    (file,) = info(satin, "a.jpg")
    assert [file["orientation"], file["width"], file["height"]] == [6, 12, 20]
    assert file["metadata"]["exif"] == len(exif.tobytes()) - 6  # without its marker in JPEG
    image.fromarray(noise((12, 20, 3))).save(satin.folder / "b.tif", tiffinfo={0x0112: 8})
    if FULL_CODECS:
        assert info(satin, "b.tif")[0]["orientation"] == 8


@pytest.mark.skipif(not FULL_CODECS, reason="this build has no TIFF")
def test_pages(satin, noise):
    image = pytest.importorskip("PIL.Image")
    pages = [image.fromarray(noise((4, 5 + i))) for i in range(3)]
    pages[0].save(satin.folder / "a.tif", save_all=True, append_images=pages[1:])
    assert [info(satin, "a.tif", *page)[0]["width"] for page in [[], ["--page", "3"]]] == [5, 7]
    assert info(satin, "a.tif")[0]["pages"] == 3
    satin.bad(2, "info", "a.tif", "--page", "4", says="no page 4")
    satin.bad(2, "info", "a.tif", "--all-pages", says="--page")


def test_files_that_are_none_are_reported_and_the_others_done(satin, picture):
    (satin.folder / "b.png").write_bytes(picture.read_bytes()[:60])
    result = satin("info", "b.png", "in.png", "missing.png", "--json")
    assert result.returncode == 1 and "2 of 3 files failed" in result.error
    files = json.loads(result.stdout)
    assert ["error" in file for file in files["files"]] == [True, False, True] and files["exit_code"] == 1
    satin.bad(1, "info", "b.png", says="b.png")


@needs_heif
def test_heic(satin, noise):
    heif(satin.folder / "a.heic", np.stack([noise((48, 64), np.uint16)] * 3, axis=2), "-b", "10")
    (file,) = info(satin, "a.heic")
    assert [file[key] for key in ["format", "width", "height", "channels", "type"]] == ["HEIC", 64, 48, 3, "u16"]


@needs_photographs
def test_depth_of_a_photograph(satin):
    (file,) = info(satin, DATA / "pug.heic")
    depth = file["depth"]
    assert [depth[key] for key in ["width", "height", "kind", "unit"]] == [768, 576, "disparity", "1/m"]
    assert depth["lowest"] == pytest.approx(1.498047) and depth["highest"] == pytest.approx(4.382812)
    assert "Apple" in depth["format"] and file["gain_map"] is True and file["profile"] == "Display P3"
    assert file["focus"]["source"] == "EXIF SubjectArea" and file["focal_length_35mm"] == 26
    if shutil.which("exiftool"):
        told = json.loads(subprocess.run(["exiftool", "-j", "-n", "-FloatMinValue", "-FloatMaxValue", "-ImageWidth",
                                          DATA / "pug.heic"], check=True, capture_output=True, text=True).stdout)[0]
        assert depth["lowest"] == pytest.approx(float(told["FloatMinValue"]), 1e-6)
        assert depth["highest"] == pytest.approx(float(told["FloatMaxValue"]), 1e-6)
        assert file["width"] == told["ImageWidth"]


@needs_photographs
def test_the_original_in_a_photograph(satin):
    (file,) = info(satin, DATA / "google_camera_2014.jpg")
    assert file["original"] == "GImage:Data" and file["depth"]["unit"] is None and file["focus"]["source"] == "GFocus"
