"""Operations of libvips beside the command: same bytes at every depth and number of threads, and clear refusals."""
import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import pfm_file
import png_file
from conftest import MODULES

VIPS = shutil.which("vips")
HOME = MODULES / "vips"
pytestmark = [pytest.mark.skipif(not HOME.is_dir(), reason="the module for libvips is not built"),
              pytest.mark.skipif(VIPS is None, reason="vips is missing")]  # fmt: skip

# The options of both programs. Mean, median and thresholds run in bands; the last six need the whole picture.
SETTINGS = [
    "blur --radius 12.5",
    "blur --sigma 15 --border reflect",
    "blur --radius-map map.png --radius-max 20",
    "median --radius 3 --mask mask.png",
    "unsharp --amount 0.8 --radius 9",
    "threshold --window 41 --k 0.3 --invert",
    "stretch --window 31 --low 5",
    "redact --box 10,20,60,200;20,300,50,90 --method mosaic --cell 16",
    "dof --depth map.png --strength 12 --focus 0.25 --bokeh hexagon",
    "edge-smooth --sigma-s 12 --iterations 2",
    "tilt-shift --place 50%,30% --radius 9",
    "resize --size 50x --space encoded",
]
FORMATS = {0: np.uint8, 2: np.uint16, 6: np.float32}


def read_v(path):
    """The pixels of a file in libvips's own format, (h, w) or (h, w, c)."""
    data = path.read_bytes()
    _, width, height, bands, _, kind = np.frombuffer(data, "<i4", 6)
    pixels = np.frombuffer(data, FORMATS[kind], width * height * bands, 64).reshape(height, width, bands)
    return pixels[:, :, 0] if bands == 1 else pixels


class Vips:
    """Runs the command vips with the module of the build tree."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "VIPSHOME": str(HOME), "SATIN_DEVICE": "cpu"}

    def __call__(self, *arguments, **environment):
        return subprocess.run([VIPS, *map(str, arguments)], cwd=self.folder, env={**self.environment, **environment},
                              capture_output=True, text=True, check=False, timeout=60)

    def filter(self, name, source, *options, **environment):
        """The picture that an operation makes."""
        done = self("satin_" + name.replace("-", "_"), source, "out.v", *options, **environment)
        assert done.returncode == 0, done.stderr
        return read_v(self.folder / "out.v")

    def refuse(self, *arguments, says):
        done = self(*arguments)
        assert done.returncode != 0
        assert says in " ".join(done.stderr.split()), done.stderr


@pytest.fixture
def vips(tmp_path):
    return Vips(tmp_path)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A photograph with and without alpha, grey and in floats, a map and a mask."""
    folder = tmp_path_factory.mktemp("pictures")
    rows, columns = np.mgrid[:420, :96]
    slopes = np.stack([rows % 256, columns, (rows + columns) // 4], 2)
    rgb = (slopes + np.random.default_rng(2).integers(0, 32, slopes.shape)).astype(np.uint8)
    rgba = np.dstack([rgb, np.where(rows > 210, 255, columns).astype(np.uint8)])
    png_file.write(folder / "rgb8.png", rgb)
    png_file.write(folder / "rgba8.png", rgba)
    png_file.write(folder / "rgba16.png", rgba.astype(np.uint16) * 251)
    png_file.write(folder / "grey8.png", rgb[:, :, 0])
    png_file.write(folder / "map.png", (rows // 2).astype(np.uint8))
    png_file.write(folder / "mask.png", (columns + rows // 8).astype(np.uint8))
    pfm_file.write(folder / "rgb.pfm", rgb.astype(np.float32) / 200)
    return folder


@pytest.fixture
def files(tmp_path, pictures):
    for path in pictures.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def by_command(satin, folder, name, source, *options):
    satin.good(name, source, "-o", "out.npy", "--overwrite", "--quiet", *options)
    return np.load(folder / "out.npy")


@pytest.mark.parametrize("setting", SETTINGS)
def test_integers_have_the_commands_bytes(vips, satin, files, setting):
    name, *options = setting.split()
    for source in ("rgba8.png", "rgba16.png"):
        expected = by_command(satin, files, name, source, *options)
        np.testing.assert_array_equal(vips.filter(name, source, *options), expected)
        if name == "threshold":
            assert expected.ndim == 2 and expected.dtype == np.uint8


@pytest.mark.parametrize("setting", SETTINGS[:1] + SETTINGS[4:6] + SETTINGS[-1:])
def test_floats_and_grey_have_the_commands_bytes(vips, satin, files, setting):
    name, *options = setting.split()
    satin.good("convert", "rgb.pfm", "-o", "floats.tiff")
    for source in ("floats.tiff", "grey8.png"):
        np.testing.assert_array_equal(vips.filter(name, source, *options),
                                      by_command(satin, files, name, source, *options))  # fmt: skip


def test_a_radius_for_each_axis(vips, satin, files):
    expected = by_command(satin, files, "dilate", "rgb8.png", "--radius", "9x2")
    np.testing.assert_array_equal(vips.filter("dilate", "rgb8.png", "--radius", 9, "--radius-y", 2), expected)
    assert (expected != by_command(satin, files, "dilate", "rgb8.png", "--radius", 9)).any()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_any_number_of_threads(vips, satin, files, threads):
    for setting in ("blur --sigma 20", "smooth --sigma 9"):
        name, *options = setting.split()
        expected = by_command(satin, files, name, "rgb8.png", *options)
        made = vips.filter(name, "rgb8.png", *options, VIPS_CONCURRENCY=str(threads))
        np.testing.assert_array_equal(made, expected)


def test_operations_are_listed_and_explained(vips, satin):
    listed = vips("-l", "operation").stdout
    kinds = {entry["name"]: entry["output"] for entry in json.loads(satin.good("list", "--json").stdout)["filters"]}
    for name, kind in kinds.items():
        assert (f"(satin_{name.replace('-', '_')})" in listed) == (kind == "image"), name
    told = vips("satin_blur").stdout
    assert "standard deviation, in place of the radius" in told
    assert "0 to 16384 px, usually 0 to 100" in told


def test_settings_are_refused_by_name(vips, files):
    vips.refuse("satin_blur", "rgb8.png", "out.v", "--radius", 4, "--sigma", 3, says="sigma")
    vips.refuse("satin_blur", "rgb8.png", "out.v", "--radius-max", 9, says="radius-max needs a radius map")
    vips.refuse("satin_dof", "rgb8.png", "out.v", "--depth", "map.png", "--focus-at", "mid", says="focus-at 'mid'")
    vips.refuse("satin_blur", "rgb8.png", "out.v", "--radius", 99999, says="radius '99999': must be from 0 to 16384")
    vips.refuse("satin_median", "rgb8.png", "out.v", "--radius", -3, says="radius '-3'")
    vips.refuse("satin_median", "rgb8.png", "out.v", "--mask", "rgb8.png", says="mask")


@pytest.mark.parametrize("space", ["lab", "cmyk", "hsv", "xyz"])
def test_colours_without_meaning_are_refused(vips, files, space):
    assert vips("colourspace", "rgb8.png", "other.v", space).returncode == 0
    vips.refuse("satin_blur", "other.v", "out.v", says=f"satin_blur: Filters do not know the colour space {space}")


def test_formats_without_meaning_are_refused(vips, files):
    for kind in ("int", "double"):
        assert vips("cast", "grey8.png", "other.v", kind).returncode == 0
        vips.refuse("satin_blur", "other.v", "out.v", says=f"pixels of format {kind}. Convert it by cast")
    assert vips("cast", "rgb8.png", "other.v", "float").returncode == 0
    vips.refuse("satin_blur", "other.v", "out.v", says="srgb with pixels of format float")
    assert vips("bandjoin", "rgb8.png rgb8.png", "other.v").returncode == 0
    vips.refuse("satin_blur", "other.v", "out.v", says="channels")


def test_redacted_pictures_keep_no_metadata(vips, tmp_path, noise):
    photo_file = pytest.importorskip("photo_file")
    (tmp_path / "photo.jpg").write_bytes(photo_file.jpeg(noise((60, 80, 3)), focal_length_35=50))

    def fields(name):
        return subprocess.run([VIPS + "header", "-a", name], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    vips.filter("blur", "photo.jpg")
    assert "exif-data" in fields("out.v")
    vips.filter("redact", "photo.jpg", "--box", "2,3,20,30")
    assert "exif" not in fields("out.v")


def test_memory_grows_with_bands_and_not_with_the_picture(vips, tmp_path):
    assert vips("black", "in.jpg", 4000, 6000, "--bands", 3).returncode == 0
    child = subprocess.Popen([VIPS, "satin_blur", "in.jpg", "out.jpg", "--sigma", "60"], cwd=tmp_path,
                             env={**vips.environment, "VIPS_CONCURRENCY": "2"})  # fmt: skip
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    assert usage.ru_maxrss < 150e3  # in thousands of bytes
