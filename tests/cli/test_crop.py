"""satin crop: boxes, aspects, and pipelines whose pictures change their size."""
import json

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS, files_below


@pytest.fixture
def pixels(tmp_path, noise):
    """large.png, 120 x 90, RGB."""
    return png_file.read(png_file.write(tmp_path / "large.png", noise((90, 120, 3))))


def found(satin, *arguments, name="out.png"):
    satin.good(*arguments, "-o", name, "--overwrite")
    return png_file.read(satin.folder / name)


@pytest.mark.parametrize("options, box", [
    (["--box", "10,20,30,40"], (10, 20, 30, 40)),
    (["--box", "0,0,120,90"], (0, 0, 120, 90)),
    (["--box", "25%,50%,50%,50%"], (30, 45, 60, 45)),
    (["--box", "7,50%,33.4%,1"], (7, 45, 40, 1)),
    (["--aspect", "1:1"], (15, 0, 90, 90)),
    (["--aspect", "2:1"], (0, 15, 120, 60)),
    (["--aspect", "2:1", "--gravity", "north"], (0, 0, 120, 60)),
    (["--aspect", "1:1", "--gravity", "100%,50%"], (30, 0, 90, 90)),
    (["--aspect", "1:1", "--gravity", "50,10"], (5, 0, 90, 90)),
])
def test_boxes_and_aspects(satin, pixels, options, box):
    x, y, width, height = box
    np.testing.assert_array_equal(found(satin, "crop", "large.png", *options), pixels[y : y + height, x : x + width])


@pytest.mark.parametrize("options, says", [
    ([], ["--box X,Y,W,H", "--aspect A:B"]),
    (["--box", "0,0,4,4", "--aspect", "1:1"], ["aspect", "box"]),
    (["--box", "100,0,21,10"], ["120 x 90", "100,0,21,10"]),
    (["--box", "0,80,10,11"], "120 x 90"),
    (["--box", "90%,0,20%,10"], "120 x 90"),
    (["--box", "0,0,0.1%,10"], ["less than one pixel", "120 x 90"]),
    (["--box", "1,2,3"], ["--box", "X,Y,W,H"]),
    (["--box", "1.5,2,3,4"], "whole pixels"),
    (["--box=-1,0,3,4"], "from 0"),
    (["--box", "0,0,0,4"], "above 0"),
    (["--aspect", "3"], ["--aspect", "3:2"]),
    (["--aspect", "0:1"], "above 0"),
    (["--aspect", "1:1", "--gravity", "120%,0%"], "0 to 100"),
    (["--aspect", "1:1", "--gravity", "middle"], "--gravity"),
    (["--box", "0,0,4,4", "--gravity", "north"], "gravity"),
])
def test_usage_errors(satin, pixels, options, says):
    satin.bad(2, "crop", "large.png", "-o", "out.png", *options, says=says)
    assert files_below(satin.folder) == ["large.png"]


def test_pictures_of_several_sizes(satin, tmp_path, pixels, noise):
    small = png_file.read(png_file.write(tmp_path / "small.png", noise((20, 30, 3), seed=3)))
    result = satin.bad(1, "crop", "small.png", "large.png", "-o", "out/", "--box", "40,10,50,60", lines=3,
                       says=["small.png", "30 x 20", "1 of 2 files failed"])
    assert "large.png" not in result.error
    np.testing.assert_array_equal(png_file.read(tmp_path / "out" / "large.png"), pixels[10:70, 40:90])
    satin.good("crop", "small.png", "large.png", "-o", "half/", "--box", "50%,0,50%,100%")
    np.testing.assert_array_equal(png_file.read(tmp_path / "half" / "small.png"), small[:, 15:])
    np.testing.assert_array_equal(png_file.read(tmp_path / "half" / "large.png"), pixels[:, 60:])


def test_a_large_box_is_known_only_with_the_picture(satin, tmp_path, noise):
    tall = png_file.read(png_file.write(tmp_path / "tall.png", noise((400, 300))))
    np.testing.assert_array_equal(found(satin, "crop", "tall.png", "--box", "280,300,20,100"), tall[300:, 280:])


@pytest.mark.parametrize("step", ["blur radius=3 mask=", "guided radius=4 guide="])
def test_side_inputs_are_those_of_the_picture_that_is_read(satin, tmp_path, pixels, noise, step):
    mask = noise((90, 120), seed=5)
    png_file.write(tmp_path / "m.png", mask)
    png_file.write(tmp_path / "part.png", pixels[20:60, 10:70])
    png_file.write(tmp_path / "part_m.png", mask[20:60, 10:70])
    expected = found(satin, "run", step + "part_m.png", "part.png")
    np.testing.assert_array_equal(found(satin, "run", f"crop box=10,20,60,40 | {step}m.png", "large.png"), expected)
    np.testing.assert_array_equal(found(satin, "run", f"crop box=10,20,60,40 | {step}part_m.png", "large.png"), expected)
    png_file.write(tmp_path / "odd.png", mask[:50])
    satin.bad(2, "run", f"crop box=10,20,60,40 | {step}odd.png", "large.png", "-o", "no.png",
              says=["odd.png", "120 x 50", "120 x 90"])


def test_masks_are_reduced_by_area(satin, tmp_path, pixels, noise):
    png_file.write(tmp_path / "m.png", noise((90, 120), seed=5))
    satin.good("resize", "m.png", "-o", "small_m.png", "--size", "40", "--kernel", "area", "--space", "encoded")
    satin.good("resize", "large.png", "-o", "small.png", "--size", "40")
    expected = found(satin, "run", "blur radius=2 mask=small_m.png", "small.png")
    np.testing.assert_array_equal(found(satin, "run", "resize size=40 | blur radius=2 mask=m.png", "large.png"), expected)


@pytest.mark.skipif(not FULL_CODECS, reason="a build without libtiff")
@pytest.mark.parametrize("steps", ["crop box=10%,30%,50%,40%", "crop aspect=2:1 | blur radius=3 mask=m.pgm",
                                   "resize size=50 | median radius=1 mask=m.pgm", "resize size=300 enlarge"])
def test_rows(satin, tmp_path, pixels, noise, steps):
    (tmp_path / "m.pgm").write_bytes(b"P5\n120 90\n255\n" + noise((90, 120), seed=5).tobytes())
    (tmp_path / "large.ppm").write_bytes(b"P6\n120 90\n255\n" + pixels.tobytes())
    satin.good("run", steps, "large.ppm", "-o", "whole.png")
    satin.good("run", steps, "large.ppm", "-o", "rows.tif", "--stream")
    np.testing.assert_array_equal(found(satin, "blur", "rows.tif", "--radius", "0"), png_file.read(tmp_path / "whole.png"))


def test_the_limit_of_pixels_is_that_of_the_result_too(satin, pixels):
    satin.good("crop", "large.png", "-o", "out.png", "--box", "0,0,60,50", "--max-pixels", "10800")
    satin.bad(2, "resize", "large.png", "-o", "no.png", "--size", "240", "--enlarge", "--max-pixels", "10800",
              says=["240 x 180", "--max-pixels"])


def test_reports_tell_both_sizes(satin, pixels):
    report = json.loads(satin.good("crop", "large.png", "-o", "out.png", "--aspect", "1:1", "--json").stdout)
    text = json.dumps(report)
    assert "120" in text and "90" in text


def test_help(satin):
    text = " ".join(satin.good("crop", "--help").stdout.decode().split())
    assert "encoded again" in text and "--box X,Y,W,H" in text and "--aspect A:B" in text and "nearest" in text
