"""HEIC and AVIF as inputs. heif-convert, heif-enc and exiftool are second readers and writers."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import png_file
from conftest import BINARY, FULL_CODECS, Satin

DATA = Path(os.environ.get("SATIN_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "portrait"
IDENTITY = ["--radius", "0"]

pytestmark = [pytest.mark.skipif(not FULL_CODECS, reason="this build has no HEIC"),
              pytest.mark.skipif(shutil.which("heif-enc") is None, reason="heif-enc is missing (libheif-examples)")]
needs_photographs = pytest.mark.skipif(not DATA.is_dir(), reason="no folder %s" % DATA)


def heif(path, array, *options, quality="-L"):
    """A file of the array, which is grey or RGB with equal channels (others get a quarter of the chroma); lossless
    unless a quality is given."""
    png = png_file.write(path.with_suffix(".made.png"), array)
    subprocess.run(["heif-enc", quality, *options, "-o", path, png], check=True, stdout=subprocess.DEVNULL)
    png.unlink()
    return path


def converted(source, target):
    """Converts the file to PNG with heif-convert."""
    subprocess.run(["heif-convert", source, target], check=True, stdout=subprocess.DEVNULL)
    return png_file.read(target)


@pytest.fixture
def grey(noise):
    def make(dtype=np.uint8, alpha=False, seed=1):
        values = noise((48, 64), dtype, seed)
        channels = [values] * 3 + ([noise((48, 64), dtype, seed + 50)] if alpha else [])
        return np.stack(channels, axis=2)

    return make


@needs_photographs
def test_a_photograph_is_what_another_reader_sees(satin):
    image = pytest.importorskip("PIL.Image")
    satin.good("blur", DATA / "xiaomi.heic", "-o", "out.png", *IDENTITY)
    subprocess.run(["heif-convert", DATA / "xiaomi.heic", satin.folder / "expected.png"], check=True, stdout=subprocess.DEVNULL)
    result, expected = (np.asarray(image.open(satin.folder / name)) for name in ["out.png", "expected.png"])
    assert result.shape == (1944, 2592, 3) and np.array_equal(result, expected)


@needs_photographs
def test_a_refocused_photograph_keeps_its_original_and_depth(satin):
    result = satin.good("dof", DATA / "pug.heic", "--depth-from", "photo", "--max-radius", "2", "-o", "a.jpg", "--keep-depth")
    assert "JPEG of quality 95" in result.error
    original = subprocess.run(["exiftool", "-b", "-XMP-GImage:ImageData", satin.folder / "a.jpg"], capture_output=True).stdout
    if shutil.which("exiftool") is None:
        pytest.skip("exiftool is missing")
    (satin.folder / "original.jpg").write_bytes(original)
    satin.good("blur", DATA / "pug.heic", "-o", "95.jpg", "--jpeg-quality", "95", *IDENTITY)
    image = pytest.importorskip("PIL.Image")
    assert np.array_equal(*(np.asarray(image.open(satin.folder / name)) for name in ["original.jpg", "95.jpg"]))
    (file,) = json.loads(satin.good("info", "a.jpg", "--json").stdout)["files"]
    assert file["original"] == "GImage:Data" and file["depth"]["unit"] == "1/m" and file["profile"] == "Display P3"


@needs_photographs
def test_profile_and_blocks_travel(satin):
    satin.good("blur", DATA / "pug.heic", "-o", "out.jpg", *IDENTITY)
    tags = ["-Make", "-FNumber", "-GPSLatitude", "-CreatorTool", "-ProfileDescription", "-Orientation#", "-ExifImageWidth"]

    def read(path):
        text = subprocess.run(["exiftool", "-j", *tags, path], check=True, capture_output=True, text=True).stdout
        return {key: value for key, value in json.loads(text)[0].items() if key != "SourceFile"}

    if shutil.which("exiftool") is None:
        pytest.skip("exiftool is missing")
    assert len(read(DATA / "pug.heic")) == len(tags)
    assert read(satin.folder / "out.jpg") == read(DATA / "pug.heic")


@pytest.mark.parametrize("suffix", [".heic", ".avif"])
def test_eight_bits_and_alpha(satin, grey, suffix):
    for alpha in [False, True]:
        array = grey(alpha=alpha)
        heif(satin.folder / ("in" + suffix), array)
        satin.good("blur", "in" + suffix, "-o", "out.png", "--overwrite", *IDENTITY)
        np.testing.assert_array_equal(png_file.read(satin.folder / "out.png"), array)


@pytest.mark.parametrize("suffix", [".heic", ".avif"])
def test_ten_bits_fill_sixteen(satin, grey, suffix):
    # The encoder of AVIF takes ten bits with half of the chroma alone.
    quality, *chroma = ["-L"] if suffix == ".heic" else ["-q98", "-p", "chroma=422"]
    file = heif(satin.folder / ("in" + suffix), grey(np.uint16), "-b", "10", *chroma, quality=quality)
    satin.good("blur", file, "-o", "out.png", *IDENTITY)
    result = png_file.read(satin.folder / "out.png")
    # The other reader leaves the low bits 0.
    codes = converted(file, satin.folder / "expected.png").astype(np.int64) >> 6
    np.testing.assert_array_equal(result, np.floor(codes * 65535 / 1023 + 0.5))
    assert result.dtype == np.uint16 and len(np.unique(codes)) > 900


def test_outputs_of_a_folder_have_a_format_that_is_written(satin, grey):
    (satin.folder / "in").mkdir()
    arrays = {"a.heic": grey(), "b.avif": grey(alpha=True, seed=2), "c.heif": grey(np.uint16, seed=3)}
    for name, array in arrays.items():
        heif(satin.folder / "in" / name, array, *(["-A"] if name == "b.avif" else []))
    png_file.write(satin.folder / "in" / "d.png", grey(seed=4))
    result = satin.good("blur", "in", "-o", "out", *IDENTITY)
    assert sorted(os.listdir(satin.folder / "out")) == ["a.jpg", "b.png", "c.png", "d.png"]
    lines = [line for line in result.error.splitlines() if "not written" in line]
    assert lines == ["satin: '.heic' is read but not written: 1 as .jpg (quality 92), 2 as .png. "
                     "--format names another format."]
    np.testing.assert_array_equal(png_file.read(satin.folder / "out" / "b.png"), arrays["b.avif"])
    assert "not written" not in satin.good("blur", "in", "-o", "other", "--quiet", *IDENTITY).error
    satin.good("blur", "in", "-o", "{stem}_{ext}.{ext}", *IDENTITY)
    assert (satin.folder / "a_jpg.jpg").exists() and (satin.folder / "c_png.png").exists()
    dry = satin.good("blur", "in", "-o", "new", "--dry-run", *IDENTITY)
    assert b"in/a.heic -> new/a.jpg" in dry.stdout


def quantisers(path):
    data = path.read_bytes()
    at = data.index(b"\xff\xdb")
    return data[at + 5:at + 69]


def test_quality_of_such_outputs(satin, grey):
    heif(satin.folder / "a.heic", grey())
    png_file.write(satin.folder / "same.png", grey())
    stream = satin.good("blur", "a.heic", "-o", "-", *IDENTITY).stdout
    (satin.folder / "stream.jpg").write_bytes(stream)
    satin.good("blur", "a.heic", "-o", "80/", "--jpeg-quality", "80", *IDENTITY)
    for quality in 80, 92:
        satin.good("blur", "same.png", "-o", "%d.jpg" % quality, "--jpeg-quality", quality, *IDENTITY)
    assert quantisers(satin.folder / "stream.jpg") == quantisers(satin.folder / "92.jpg")
    assert quantisers(satin.folder / "80" / "a.jpg") == quantisers(satin.folder / "80.jpg")


def test_two_inputs_with_one_output_are_refused(satin, grey):
    (satin.folder / "in").mkdir()
    heif(satin.folder / "in" / "IMG_1.heic", grey())
    satin.good("blur", "in/IMG_1.heic", "-o", "in/IMG_1.jpg", *IDENTITY)
    satin.bad(2, "blur", "in", "-o", "out", *IDENTITY, says=["IMG_1.heic", "IMG_1.jpg", "both be written"])
    assert not (satin.folder / "out").exists()


def test_writing_is_refused(satin, picture):
    satin.bad(2, "blur", "in.png", "-o", "x.heic", *IDENTITY, says=["x.heic", "reads but does not write"])
    satin.bad(2, "blur", "in.png", "-o", "x", "--format", "avif", *IDENTITY, says="not a format that can be written")


def test_limits_and_damage(satin, grey):
    data = heif(satin.folder / "in.heic", grey()).read_bytes()
    satin.bad(1, "blur", "in.heic", "-o", "x.png", "--max-pixels", 3071, *IDENTITY, says=["in.heic", "--max-pixels"])
    for size in [13, 100, len(data) // 2, len(data) - 1]:
        (satin.folder / "cut.heic").write_bytes(data[:size])
        satin.bad(1, "blur", "cut.heic", "-o", "x.png", *IDENTITY, says=["cut.heic", "copy of the file"])
    assert not (satin.folder / "x.png").exists()


def test_without_the_module_the_package_is_named(tmp_path, grey):
    heif(tmp_path / "in.heic", grey())
    alone = tmp_path / "bin" / "satin"
    alone.parent.mkdir()
    shutil.copy(BINARY, alone)
    result = subprocess.run([alone, "blur", "in.heic", "-o", "x.png", *IDENTITY], cwd=tmp_path, capture_output=True, text=True)
    if result.returncode == 0:
        pytest.skip("a module is installed on this machine")
    assert result.returncode == 3 and "libheif1" in result.stderr and "in.heic" in result.stderr
    assert Satin(tmp_path).good("blur", "in.heic", "-o", "x.png", *IDENTITY)


@needs_photographs
def test_a_photograph_is_nearly_what_a_newer_libheif_sees(satin):
    """It spreads chroma otherwise."""
    pillow_heif = pytest.importorskip("pillow_heif")
    image = pytest.importorskip("PIL.Image")
    satin.good("blur", DATA / "xiaomi.heic", "-o", "out.png", *IDENTITY)
    seen = np.asarray(pillow_heif.open_heif(DATA / "xiaomi.heic").to_pillow()).astype(np.int16)
    difference = np.abs(np.asarray(image.open(satin.folder / "out.png")) - seen)
    assert difference.shape == (1944, 2592, 3) and difference.mean() < 1
