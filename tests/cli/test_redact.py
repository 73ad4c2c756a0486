"""satin redact: covered content is gone from the pixels and from the metadata."""
import io
import json

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS, files_below


@pytest.fixture
def pixels(picture):
    return png_file.read(picture)


def test_boxes_under_black(satin, tmp_path, pixels):
    satin.good("redact", "in.png", "-o", "out.png", "--box", "2,3,5,4", "--box", "-3,10,8,9")
    pixels[3:7, 2:7] = 0
    pixels[10:12, 0:5] = 0
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), pixels)


def test_boxes_and_colour_in_a_pipeline(satin, tmp_path, pixels):
    satin.good("run", "redact box=2,3,5,4;0,0,1,1 colour=#ff8001", "in.png", "-o", "out.png")
    pixels[3:7, 2:7] = pixels[0, 0] = (255, 128, 1)
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), pixels)


def test_mask(satin, tmp_path, pixels, noise):
    mask = np.where(noise((12, 20), seed=5) > 200, noise((12, 20)), 0).astype(np.uint8)
    png_file.write(tmp_path / "m.png", mask)
    satin.good("redact", "in.png", "-o", "out.png", "--mask", "m.png")
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), np.where(mask[..., None] != 0, 0, pixels))


def test_mosaic_of_stored_values(satin, tmp_path, pixels):
    satin.good("redact", "in.png", "-o", "out.png", "--method", "mosaic", "--cell", "5", "--space", "encoded",
               "--box", "0,0,20,12")
    found = png_file.read(tmp_path / "out.png").astype(int)
    for y in range(0, 12, 5):
        for x in range(0, 20, 5):
            cell = pixels[y : y + 5, x : x + 5].reshape(-1, 3).astype(int)
            mean = (2 * cell.sum(0) + len(cell)) // (2 * len(cell))
            assert (found[y : y + 5, x : x + 5] == mean).all()


def test_blur_changes_the_boxes_alone(satin, tmp_path, pixels):
    satin.good("blur", "in.png", "-o", "soft.png", "--radius", "6", "--kernel", "gaussian")
    satin.good("redact", "in.png", "-o", "out.png", "--method", "blur", "--radius", "6", "--box", "2,3,5,4")
    pixels[3:7, 2:7] = png_file.read(tmp_path / "soft.png")[3:7, 2:7]
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), pixels)


def test_feather_is_outside(satin, tmp_path):
    png_file.write(tmp_path / "white.png", np.full((40, 50), 255, np.uint8))
    satin.good("redact", "white.png", "-o", "out.png", "--box", "20,15,8,9", "--feather", "6")
    found = png_file.read(tmp_path / "out.png")
    assert (found[15:24, 20:28] == 0).all()
    assert ((found[18, 14:20] > 0) & (found[18, 14:20] < 255)).all() and (np.diff(found[18, 13:21].astype(int)) < 0).all()
    assert (found[:9] == 255).all() and (found[30:] == 255).all() and (found[:, :14] == 255).all()


@pytest.mark.skipif(not FULL_CODECS, reason="a build without libjpeg")
@pytest.mark.parametrize("name", ["out.jpg", "out.png", "out.tiff"])
def test_thumbnails_are_dropped(satin, tmp_path, name):
    image = pytest.importorskip("PIL.Image")
    secret = np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8)
    thumbnail = io.BytesIO()
    image.fromarray(secret[::2, ::2]).save(thumbnail, "jpeg")
    thumbnail = thumbnail.getvalue()
    # little-endian TIFF: an empty first directory, a second one with the thumbnail behind it
    entries = [(0x0103, 3, 1, 6), (0x0201, 4, 1, 56), (0x0202, 4, 1, len(thumbnail))]
    tiff = b"II*\0" + (8).to_bytes(4, "little") + b"\0\0" + (14).to_bytes(4, "little") + len(entries).to_bytes(2, "little")
    for tag, kind, count, value in entries:
        tiff += tag.to_bytes(2, "little") + kind.to_bytes(2, "little") + count.to_bytes(4, "little")
        tiff += value.to_bytes(4, "little")
    tiff += bytes(4)
    tiff = tiff.ljust(56, b"\0") + thumbnail
    image.fromarray(secret).save(tmp_path / "in.jpg", exif=b"Exif\0\0" + tiff)
    piece = thumbnail[-40:]
    assert piece in (tmp_path / "in.jpg").read_bytes(), "the test has no thumbnail"
    satin.good("redact", "in.jpg", "-o", name, "--box", "0,0,64,64")
    written = (tmp_path / name).read_bytes()
    assert piece not in written


def test_help_warns(satin):
    text = " ".join(satin.good("redact", "--help").stdout.decode().split())
    assert "reversed" in text and "previews in the file are dropped" in text


@pytest.mark.parametrize("arguments, says", [
    ([], ["--box", "mask"]),
    (["--box", "1,2,3"], ["--box", "X,Y,W,H"]),
    (["--box", "1,2,0,3"], ["--box", "1 or more"]),
    (["--box", "0,0,1,1", "--mask", "m.png"], "give one"),
    (["--mask", "small.png"], ["3 x 3", "20 x 12"]),
    (["--box", "0,0,1,1", "--colour", "black"], ["--colour", "#ff8000"]),
    (["--box", "0,0,1,1", "--color", "#000000"], "--colour"),
    (["--box", "0,0,1,1", "--cell", "0"], "--cell"),
    (["--box", "0,0,1,1", "--feather", "-1"], "--feather"),
    (["--box", "0,0,1,1", "--method", "pixelate"], "mosaic"),
    (["--box", "0,0,1,1", "--cell", "2", "--cell", "3"], "twice"),
])
def test_usage_errors(satin, tmp_path, picture, noise, arguments, says):
    png_file.write(tmp_path / "m.png", noise((12, 20)))
    png_file.write(tmp_path / "small.png", noise((3, 3)))
    satin.bad(2, "redact", "in.png", "-o", "out.png", *arguments, says=says)


def test_a_place_outside_the_picture_is_one_mistake(satin, tmp_path, picture, noise):
    png_file.write(tmp_path / "map.png", noise((12, 20)))
    says = ["in.png", "outside", "20 x 12"]
    satin.bad(2, "redact", "in.png", "-o", "out.png", "--box", "20,0,5,5", says=[*says, "--allow-nothing"])
    satin.bad(1, "dof", "in.png", "-o", "out.png", "--depth", "map.png", "--focus-at", "20,0", says=says)
    png_file.write(tmp_path / "large.png", noise((600, 800, 3)))
    for covered in ("redact", "--box", "500,500,5,5"), ("redact", "--box", "500,500,5,5", "--method", "blur"):
        result = satin.bad(1, *covered, "in.png", "large.png", "-o", covered[-1] + "/", lines=3, says=says)
        assert "1 of 2 files failed" in result.error
        assert (tmp_path / covered[-1] / "large.png").exists()
    assert "out.png" not in files_below(tmp_path)


def painted(colour, covered):
    """A mask of pixels of one colour, opaque where it covers, on a transparent ground."""
    return np.where(covered[..., None], (*colour, 255), (*colour, 0)).astype(np.uint8)


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (200, 10, 30)], ids=["black", "white", "red"])
def test_a_mask_on_a_transparent_layer_is_its_alpha(satin, tmp_path, pixels, colour):
    covered = np.zeros((12, 20), bool)
    covered[3:9, 4:15] = True
    png_file.write(tmp_path / "m.png", painted(colour, covered))
    says = satin.good("redact", "in.png", "-o", "out.png", "--mask", "m.png").error
    assert "m.png" in says and "transparent" in says and "alpha is the mask" in says and says.count("\n") == 1
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), np.where(covered[..., None], 0, pixels))
    says = satin.good("redact", "in.png", "-o", "own.png", "--mask", "{dir}/m.png").error
    assert "in.png" in says and "alpha is the mask" in says and says.count("\n") == 1
    np.testing.assert_array_equal(png_file.read(tmp_path / "own.png"), png_file.read(tmp_path / "out.png"))


def test_a_mask_that_is_opaque_everywhere_is_its_grey(satin, tmp_path, pixels):
    grey = np.zeros((12, 20, 1), np.uint8)
    grey[3:9, 4:15] = 255
    png_file.write(tmp_path / "m.png", np.concatenate([grey, np.full_like(grey, 255)], axis=2))
    assert satin.good("redact", "in.png", "-o", "out.png", "--mask", "m.png").error == ""
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), np.where(grey != 0, 0, pixels))


@pytest.mark.parametrize("options", [[], ["--stream"]], ids=["whole", "by rows"])
def test_other_masks_and_maps_with_alpha(satin, tmp_path, noise, options):
    """The mask of any filter is its alpha; that of a map is not used, and said to be so."""
    if options and not FULL_CODECS:
        pytest.skip("a build without libtiff")
    alpha = noise((12, 20), seed=9) // 64 * 64
    grey = np.zeros_like(alpha)
    grey[:, 10:] = 255
    form = "tif" if options else "png"
    write = (lambda name, array: satin.good("blur", name + ".png", "-o", name + ".tif", "--radius", 0)) if options else \
        (lambda name, array: None)
    for name, array in {"p": noise((12, 20, 3)), "mask": np.stack([grey, alpha], axis=2), "alpha": alpha,
                        "grey": grey}.items():
        png_file.write(tmp_path / (name + ".png"), array)
        write(name, array)
    common = ["blur", "p." + form, "--radius", 2, *options]
    says = satin.good(*common, "-o", "by_mask." + form, "--mask", "mask." + form).error
    assert "alpha is the mask" in says
    satin.good(*common, "-o", "by_alpha." + form, "--mask", "alpha." + form)
    assert (tmp_path / ("by_mask." + form)).read_bytes() == (tmp_path / ("by_alpha." + form)).read_bytes()
    if options:
        return
    common += ["--radius-max", 3, "--radius-map"]
    common.remove("--radius"), common.remove(2)
    says = satin.good(*common, "mask.png", "-o", "by_map.png").error
    assert "--radius-map" in says and "alpha is not used" in says
    satin.good(*common, "grey.png", "-o", "by_grey.png")
    assert (tmp_path / "by_map.png").read_bytes() == (tmp_path / "by_grey.png").read_bytes()


def test_covering_nothing_is_an_error(satin, tmp_path, picture, pixels):
    covered = np.zeros((12, 20), bool)
    png_file.write(tmp_path / "in_mask.png", painted((255, 255, 255), covered))
    png_file.write(tmp_path / "black.png", np.zeros((12, 20), np.uint8))
    for mask in "in_mask.png", "black.png":
        satin.bad(2, "redact", "in.png", "-o", "out.png", "--mask", mask, lines=3,
                  says=["in.png", "nothing is covered", "--allow-nothing"])
    assert "out.png" not in files_below(tmp_path)
    satin.good("redact", "in.png", "-o", "out.png", "--mask", "black.png", "--allow-nothing")
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), pixels)
    satin.good("redact", "in.png", "-o", "box.png", "--box", "30,0,5,5", "--allow-nothing")
    np.testing.assert_array_equal(png_file.read(tmp_path / "box.png"), pixels)
    covered[2, 3] = True
    png_file.write(tmp_path / "two.png", pixels)
    png_file.write(tmp_path / "two_mask.png", painted((0, 0, 0), covered))
    result = satin("redact", "in.png", "two.png", "-o", "done/", "--mask", "{dir}/{stem}_mask.png", "--json")
    assert result.returncode == 1 and "1 of 2 files failed" in result.error
    rows = {row["input"]: row for row in json.loads(result.stdout)["files"]}
    assert "nothing is covered" in rows["in.png"]["error"]["message"] and "error" not in rows["two.png"]
    assert list(files_below(tmp_path / "done")) == ["two.png"]


def test_report_and_regions(satin, tmp_path, picture):
    report = json.loads(satin.good("redact", "in.png", "-o", "out.png", "--box", "1,1,2,2", "--box", "5,5,1,1",
                                   "--json").stdout)
    assert report["steps"][0]["parameters"]["box"] == "1,1,2,2;5,5,1,1"
