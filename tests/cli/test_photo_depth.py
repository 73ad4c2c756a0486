"""satin dof --depth-from photo: depth, focus and original that a photograph carries, and results that carry them."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import FULL_CODECS

Image = pytest.importorskip("PIL.Image")
import pfm_file  # noqa: E402
import photo_file as made  # noqa: E402

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="photographs need the codecs of SATIN_CODECS=FULL")

PORTRAIT = Path(os.environ.get("SATIN_TEST_DATA", Path(__file__).parents[2].parent / "shared/data")) / "portrait"
HEIGHT, WIDTH = 32, 48
PHOTO = ("--depth-from", "photo")
LENS = ("--strength", 6, "--focus-at", "25%,50%")


@pytest.fixture
def sharp(noise):
    """Grey, so that every reader decodes the same."""
    return noise((HEIGHT, WIDTH), seed=4)


@pytest.fixture
def codes():
    """24 x 16: near on the left, far on the right, nothing symmetric."""
    y, x = np.mgrid[0:HEIGHT // 2, 0:WIDTH // 2]
    return np.where(x < 10, 40 + y, 200 - y).astype(np.uint8)


def disparity(codes, near=0.5, far=8.0):
    return (1 / near + codes / 255 * (1 / far - 1 / near)).astype(np.float32)


def save(satin, name, content):
    (satin.folder / name).write_bytes(content)
    return name


def dof(satin, name, output, *arguments):
    satin.good("dof", name, "-o", output, *arguments)
    return (satin.folder / output).read_bytes()


def report(satin, name, *arguments, output="out.pgm"):
    line = satin.good("dof", name, "-o", output, *PHOTO, "--overwrite", "--json", *arguments).stdout
    return json.loads(line)["files"][0]


def by_image(satin, picture, values, *arguments):
    """The result with these values as a depth image of its own."""
    pfm_file.write(satin.folder / "values.pfm", values)
    save(satin, "plain.jpg", picture)
    return dof(satin, "plain.jpg", "plain.pgm", "--depth", "values.pfm", "--overwrite", *arguments)


@pytest.mark.parametrize("order", [list, lambda s: s[::-1], lambda s: s[1::2] + s[::2]], ids=["straight", "back", "mixed"])
def test_gdepth_lies_in_extended_xmp_in_any_order(satin, sharp, codes, order):
    original = made.jpeg(sharp)
    save(satin, "in.jpg", made.gdepth(made.jpeg(sharp // 2), made.png(codes), original, order=order))
    expected = by_image(satin, original, disparity(codes), *LENS)
    assert dof(satin, "in.jpg", "out.pgm", *PHOTO, *LENS) == expected
    told = report(satin, "in.jpg")["photo"]
    assert told["original"] == "GImage:Data" and told["depth"]["format"] == "GDepth RangeInverse"
    assert "unit" not in told["depth"] and told["depth"]["kind"] == "disparity"


def test_gdepth_of_colours_must_agree(satin, sharp, codes):
    colours = np.dstack([codes, codes, codes, np.full_like(codes, 255)])
    save(satin, "in.jpg", made.gdepth(made.jpeg(sharp), made.png(colours)))
    assert dof(satin, "in.jpg", "out.pgm", *PHOTO, *LENS) == by_image(satin, made.jpeg(sharp), disparity(codes), *LENS)
    colours[3, 3, 1] += 1
    save(satin, "in.jpg", made.gdepth(made.jpeg(sharp), made.png(colours)))
    satin.bad(1, "dof", "in.jpg", "-o", "bad.pgm", *PHOTO, says=["in.jpg", "do not agree", "--depth"])


def test_a_range_of_distances_is_depth_and_a_lens_alone_is_physical(satin, sharp, codes):
    picture = made.jpeg(sharp, focal_length_35=26)
    save(satin, "in.jpg", made.gdepth(picture, made.jpeg(codes), Format="RangeLinear", Units="mm", Near="500",
                                      Far="8000", Mime="image/jpeg"))
    read = np.array(Image.open(save_item(satin, made.jpeg(codes))))
    values = (0.5 + read / 255 * 7.5).astype(np.float32)
    lens = ("--focus-at", "25%,50%", "--f-number", 1.4)
    expected = by_image(satin, picture, values, "--depth-kind", "depth", "--focal-length", 26, *lens)
    assert dof(satin, "in.jpg", "out.pgm", *PHOTO, *lens) == expected
    told = report(satin, "in.jpg")["photo"]["depth"]
    assert (told["kind"], told["unit"]) == ("depth", "m")
    assert told["lowest"] == pytest.approx(values.min()) and told["highest"] == pytest.approx(values.max())


def save_item(satin, item):
    return satin.folder / save(satin, "item", item)


def test_a_lens_says_what_it_assumes(satin, sharp, codes):
    save(satin, "in.jpg", made.gdepth(made.jpeg(sharp), made.png(codes)))
    error = satin.good("dof", "in.jpg", "-o", "out.pgm", *PHOTO, "--f-number", 2).error
    assert "unit" in error and "FocalLengthIn35mmFilm" in error


@pytest.mark.parametrize("terms, says", [({"Near": "0"}, "Near 0"), ({"Far": "far"}, "'far'"), ({"Units": "ft"}, "'ft'"),
                                         ({"Format": "Other"}, "'Other'"), ({"Far": "0.5"}, "are not a range")])
def test_terms_that_mean_nothing_are_refused(satin, sharp, codes, terms, says):
    save(satin, "in.jpg", made.gdepth(made.jpeg(sharp), made.png(codes), **terms))
    satin.bad(1, "dof", "in.jpg", "-o", "out.pgm", *PHOTO, says=["in.jpg", says, "--depth FILE"])


def test_damaged_extended_xmp_is_not_believed(satin, sharp, codes):
    whole = made.gdepth(made.jpeg(sharp), made.png(codes))
    for name, damaged in (("part", made.gdepth(made.jpeg(sharp), made.png(codes), order=lambda s: s[:-1])),
                          ("digest", whole.replace(b"GDepth:Data=\"iVBOR", b"GDepth:Data=\"iVBOQ"))):
        save(satin, name + ".jpg", damaged)
        satin.bad(1, "dof", name + ".jpg", "-o", "out.pgm", *PHOTO, says=["GDepth:Data", name])


@pytest.mark.parametrize("padding", [0, 37])
def test_dynamic_depth_by_its_container(satin, sharp, codes, padding):
    original = made.jpeg(sharp)
    save(satin, "in.jpg", made.dynamic_depth(made.jpeg(sharp // 2), made.png(codes), original, padding))
    assert dof(satin, "in.jpg", "out.pgm", *PHOTO, *LENS) == by_image(satin, original, disparity(codes), *LENS)
    told = report(satin, "in.jpg")["photo"]
    assert told["original"] == "container item Original" and told["depth"]["unit"] == "1/m"
    save(satin, "cut.jpg", made.dynamic_depth(made.jpeg(sharp), made.png(codes), length=10 ** 12))
    satin.bad(1, "dof", "cut.jpg", "-o", "cut.pgm", *PHOTO, says="not in the file")


def apple_disparity(codes, lowest, highest):
    """Codes as Apple has them: white is near."""
    return made.auxiliary(codes, "disparity", FloatMinValue=lowest, FloatMaxValue=highest)


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("lowest", [0.25, 0, -0.5])
def test_apple_depth_is_told_by_its_own_xmp(satin, sharp, codes, first, lowest):
    depth = apple_disparity(codes, lowest, 4)
    gain_map = made.auxiliary(codes.T.copy(), "urn:com:apple:photo:2020:aux:hdrgainmap")
    save(satin, "in.jpg", made.apple(made.jpeg(sharp), [depth, gain_map] if first else [gain_map, depth]))
    satin.good("dof", "in.jpg", "-o", "out.pgm", *PHOTO, *LENS, "--depth-out", "values.npy")
    read = np.array(Image.open(save_item(satin, depth)))
    values = np.load(satin.folder / "values.npy")
    np.testing.assert_allclose(values, lowest + read / 255 * (4 - lowest), rtol=1e-6, atol=1e-6)
    assert by_image(satin, made.jpeg(sharp), values, *LENS) == (satin.folder / "out.pgm").read_bytes()
    assert report(satin, "in.jpg")["photo"]["depth"]["place"] == "picture %d of the MPF index" % (2 if first else 3)


def test_depth_coded_without_loss_is_refused_with_the_reason(satin, sharp, codes):
    lossless = apple_disparity(codes, 0.5, 4).replace(b"\xff\xc0", b"\xff\xc3")
    save(satin, "in.jpg", made.apple(made.jpeg(sharp), [lossless]))
    satin.bad(1, "dof", "in.jpg", "-o", "out.pgm", *PHOTO, says=["in.jpg", "SOF3"])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_depth_lies_on_the_picture(satin, sharp, codes, orientation):
    picture = made.jpeg(made.turned(sharp, orientation), orientation)
    item = made.png(made.turned(codes, orientation))
    decoded = np.array(Image.open(save_item(satin, picture)))
    upright = [a for a in (made.turned(decoded, back) for back in range(1, 9))
               if a.shape == sharp.shape and np.abs(a.astype(int) - sharp).mean() < 8]
    assert len(upright) == 1
    Image.fromarray(upright[0]).save(satin.folder / "upright.png")
    pfm_file.write(satin.folder / "values.pfm", disparity(codes))
    expected = dof(satin, "upright.png", "expected.pgm", "--depth", "values.pfm", *LENS)
    save(satin, "in.jpg", made.gdepth(picture, item, picture))
    assert dof(satin, "in.jpg", "out.pgm", *PHOTO, *LENS) == expected
    # The original may be told by the picture how it lies.
    save(satin, "plain.jpg", made.gdepth(picture, item, made.jpeg(made.turned(sharp, orientation))))
    assert dof(satin, "plain.jpg", "plain.pgm", *PHOTO, *LENS) == expected


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
@pytest.mark.parametrize("kind", ["gdepth", "picture", "dynamic", "apple"])
def test_results_can_be_refocused(satin, sharp, codes, kind, orientation):
    stored, item = made.turned(sharp, orientation), made.png(made.turned(codes, orientation))
    picture, original = made.jpeg(stored // 2, orientation, subject=(9, 9)), made.jpeg(stored)
    files = {"gdepth": lambda: made.gdepth(picture, item, original, Units="m"),
             "picture": lambda: made.gdepth(picture, item),
             "dynamic": lambda: made.dynamic_depth(picture, item, original, padding=5),
             "apple": lambda: made.apple(picture, [apple_disparity(made.turned(codes, orientation), -0.1, 3)])}
    save(satin, "in.jpg", files[kind]())
    kept = dof(satin, "in.jpg", "kept.jpg", *PHOTO, *LENS, "--keep-depth")
    assert b"MPF\0" not in kept and b"photos/dd" not in kept
    assert dof(satin, "kept.jpg", "a.jpg", *PHOTO, "--focus-at", "80%,50%") == \
        dof(satin, "in.jpg", "b.jpg", *PHOTO, "--focus-at", "80%,50%")
    told = report(satin, "kept.jpg")["photo"]["focus"]
    assert told["source"] == "GFocus" and told["place"].startswith("25%,50")
    again = dof(satin, "kept.jpg", "again.jpg", *PHOTO, *LENS, "--keep-depth")
    assert again == kept
    check_with_exiftool(satin.folder / "kept.jpg", item if kind != "apple" else None,
                        original if kind in ("gdepth", "dynamic") else None)


def exiftool(*arguments):
    return subprocess.run(["exiftool", *map(str, arguments)], stdout=subprocess.PIPE, check=True).stdout


def check_with_exiftool(path, item, original):
    if shutil.which("exiftool") is None:
        pytest.skip("exiftool is missing: what it reads was not looked at")
    assert exiftool("-a", "-warning", "-error", path) == b""
    assert item is None or exiftool("-b", "-XMP-GDepth:DepthImage", path) == item
    assert original is None or exiftool("-b", "-XMP-GImage:ImageData", path) == original


def test_depth_is_kept_in_jpeg_alone(satin, sharp, codes):
    save(satin, "in.jpg", made.gdepth(made.jpeg(sharp), made.png(codes)))
    satin.bad(2, "dof", "in.jpg", "-o", "out.png", *PHOTO, "--keep-depth", says=["PNG", "--keep-depth"])
    satin.bad(2, "dof", "in.jpg", "-o", "out.jpg", *PHOTO, "--keep-depth", "--strip", says="--strip")
    satin.bad(2, "dof", "in.jpg", "-o", "out.jpg", "--depth-from", "alpha", "--keep-depth", says="photo")
    satin.good("blur", "in.jpg", "-o", "blurred.jpg", "--radius", 1)
    assert b"GDepth" not in (satin.folder / "blurred.jpg").read_bytes()
    satin.bad(1, "dof", "blurred.jpg", "-o", "out.jpg", *PHOTO, says=["blurred.jpg", "no depth"])


@pytest.mark.parametrize("focus, subject, source, place", [
    ({"FocalDistance": "1.25", "FocalPointX": "0.25"}, (9, 9), "GFocus", None),
    ({"FocalPointX": "0.25", "FocalPointY": "0.5"}, (9, 9), "GFocus", "25%,50%"),
    ({}, (12, 16), "EXIF SubjectArea", "25%,50%"), ({}, (12, 16, 4, 4), "EXIF SubjectArea", "25%,50%"),
    ({}, (4000, 10), "the middle", "50%,50%"), ({}, None, "the middle", "50%,50%")])
def test_focus_is_what_the_file_tells(satin, sharp, codes, focus, subject, source, place):
    picture = made.jpeg(sharp, subject=subject)
    save(satin, "in.jpg", made.gdepth(picture, made.png(codes), focus=focus))
    told = report(satin, "in.jpg", "--strength", 6)["photo"]["focus"]
    assert (told["source"], told.get("place")) == (source, place)
    by_hand = ("--focus", 0.8) if place is None else ("--focus-at", place)
    out = (satin.folder / "out.pgm").read_bytes()
    assert out == by_image(satin, picture, disparity(codes), "--strength", 6, *by_hand)
    assert report(satin, "in.jpg", "--focus-at", "3,4")["photo"]["focus"]["source"] == "--focus-at"


def test_depth_is_written_as_it_is(satin, sharp, codes):
    picture = made.jpeg(made.turned(sharp, 6), 6)
    save(satin, "in.jpg", made.gdepth(picture, made.png(made.turned(codes, 6)), Units="m"))
    for form in ("npy", "tif", "pfm", "exr", "png"):
        told = report(satin, "in.jpg", "--depth-out", "depth." + form)["photo"]["depth"]
    assert (told["unit"], told["written"]) == ("1/m", "depth.png")
    values = np.load(satin.folder / "depth.npy")
    assert values.dtype == np.float32 and np.array_equal(values, disparity(codes))
    assert np.array_equal(np.array(Image.open(satin.folder / "depth.tif")), values)
    assert np.frombuffer((satin.folder / "depth.pfm").read_bytes()[-values.nbytes:], "<f4").reshape(values.shape)[::-1].tolist() \
        == values.tolist()
    for form in ("exr", "tif"):
        satin.good("blur", "depth." + form, "-o", "again_%s.npy" % form, "--radius", 0)
        assert np.array_equal(np.load(satin.folder / ("again_%s.npy" % form)).squeeze(), values)
    sixteen = np.array(Image.open(satin.folder / "depth.png")).astype(float)
    back = told["lowest"] + sixteen / 65535 * (told["highest"] - told["lowest"])
    assert np.abs(back - values).max() <= (told["highest"] - told["lowest"]) / 65535


def test_files_of_depth_are_checked_before_work(satin, sharp, codes):
    for name in ("a.jpg", "b.jpg"):
        save(satin, name, made.gdepth(made.jpeg(sharp), made.png(codes)))
    several = ("dof", "a.jpg", "b.jpg", "-o", "out/{stem}.png", *PHOTO)
    satin.bad(2, *several, "--depth-out", "d.tif", says="pattern")
    satin.bad(2, "dof", "a.jpg", "-o", "a.png", *PHOTO, "--depth-out", "d.webp", says=".webp")
    satin.bad(2, "dof", "a.jpg", "-o", "a.tif", *PHOTO, "--depth-out", "a.tif", says="a.tif")
    satin.bad(2, "dof", "a.jpg", "-o", "a.png", *PHOTO, "--depth-out", "none/d.tif", says="none")
    satin.bad(2, *several, "--depth-out", "out/{sub}depth.tif", says=["several", "{stem}"])
    satin.good(*several, "--depth-out", "out/{stem}_depth.tif")
    satin.bad(2, *several, "--depth-out", "out/{stem}_depth.tif", says="exist already")
    satin.good(*several, "--depth-out", "out/{stem}_depth.tif", "--overwrite")


def test_a_batch_does_those_that_have_depth(satin, sharp, codes):
    (satin.folder / "in").mkdir()
    for name, content in (("a", made.gdepth(made.jpeg(sharp), made.png(codes), focus={"FocalDistance": "1"})),
                          ("b", made.jpeg(sharp)), ("c", made.apple(made.jpeg(sharp), [apple_disparity(codes, 1, 2)])),
                          ("d", made.gdepth(made.jpeg(sharp), made.png(codes), focus={"FocalDistance": "6"}))):
        save(satin, "in/%s.jpg" % name, content)
    result = satin("dof", "in", "-o", "out", "--format", "png", *PHOTO)
    assert result.returncode == 1 and "b.jpg" in result.error and "no depth" in result.error
    assert sorted(path.name for path in (satin.folder / "out").iterdir()) == ["a.png", "c.png", "d.png"]
    for name in "acd":  # every one by its own focus
        assert dof(satin, "in/%s.jpg" % name, name + ".png", *PHOTO) == (satin.folder / "out" / (name + ".png")).read_bytes()


def test_the_portrait_matte_is_a_mask(satin, sharp, codes):
    matte = np.zeros((HEIGHT, WIDTH), np.uint8)
    matte[:, :24] = 255
    kind = "urn:com:apple:photo:2018:aux:portraiteffectsmatte"
    save(satin, "in.jpg", made.apple(made.jpeg(sharp), [made.auxiliary(matte, kind)]))
    save(satin, "plain.jpg", made.jpeg(sharp))
    Image.fromarray(matte).save(satin.folder / "person.png")
    Image.fromarray(255 - matte).save(satin.folder / "rest.png")
    for source, mask in (("matte", "person.png"), ("background", "rest.png")):
        satin.good("blur", "in.jpg", "-o", source + ".pgm", "--radius", 3, "--mask-from", source)
        satin.good("blur", "plain.jpg", "-o", mask + ".pgm", "--radius", 3, "--mask", mask)
        assert (satin.folder / (source + ".pgm")).read_bytes() == (satin.folder / (mask + ".pgm")).read_bytes()
    satin.bad(1, "blur", "plain.jpg", "-o", "no.pgm", "--radius", 3, "--mask-from", "matte", says="no portrait matte")
    satin.bad(2, "blur", "in.jpg", "-o", "no.pgm", "--radius", 3, "--mask-from", "matte", "--mask", "rest.png",
              says="--mask-from")


@pytest.mark.parametrize("blurred", [False, True])
def test_a_picture_that_is_blurred_already_is_told(satin, noise, blurred):
    pixels = np.repeat(np.repeat(noise((60, 80), seed=3), 4, axis=0), 4, axis=1)
    if blurred:
        save(satin, "all.png", made.png(pixels))
        satin.good("blur", "all.png", "-o", "soft.png", "--radius", 12)
        pixels[:, :160] = np.array(Image.open(satin.folder / "soft.png"))[:, :160]
    depth = np.tile(np.repeat(np.array([220, 40], np.uint8), 40), (60, 1))
    save(satin, "in.jpg", made.gdepth(made.jpeg(pixels), made.png(depth)))
    assert ("blurred already" in satin.good("dof", "in.jpg", "-o", "out.png", *PHOTO).error) == blurred


def real(name):
    path = PORTRAIT / name
    if not path.exists():
        pytest.skip("%s is missing: set SATIN_TEST_DATA" % path)
    return path


def test_a_photograph_of_an_iphone(satin):
    told = report(satin, real("apple_mpf.jpg"), "--depth-out", "depth.tif", "--quality", "fast", output="out.jpg")
    assert any("blurred already" in warning for warning in told["warnings"])
    depth, focus = told["photo"]["depth"], told["photo"]["focus"]
    assert (depth["width"], depth["height"], depth["unit"]) == (768, 576, "1/m")
    assert depth["lowest"] == pytest.approx(0.229614) and depth["highest"] == pytest.approx(4.835938)
    assert depth["place"] == "picture 3 of the MPF index" and focus["source"] == "EXIF SubjectArea"
    values = np.array(Image.open(satin.folder / "depth.tif"))
    if shutil.which("exiftool") is not None:
        save(satin, "third.jpg", exiftool("-b", "-MPImage3", real("apple_mpf.jpg")))
        codes = np.array(Image.open(satin.folder / "third.jpg").convert("L"))
        np.testing.assert_allclose(values, 0.229614 + codes / 255 * (4.835938 - 0.229614), rtol=1e-5)


def test_a_photograph_of_google_camera(satin):
    path = real("google_camera_2014.jpg")
    told = report(satin, path, "--depth-out", "depth.npy", "--quality", "fast", output="out.ppm")
    assert not any("blurred" in warning for warning in told.get("warnings", []))
    told = told["photo"]
    assert told["original"] == "GImage:Data" and told["focus"]["source"] == "GFocus"
    assert told["focus"]["disparity"] == pytest.approx(1 / 26.517597)
    if shutil.which("exiftool") is None:
        pytest.skip("exiftool is missing: the parts were not compared")
    save(satin, "sharp.jpg", exiftool("-b", "-XMP-GImage:ImageData", path))
    save(satin, "depth.png", exiftool("-b", "-XMP-GDepth:DepthImage", path))
    codes = np.array(Image.open(satin.folder / "depth.png"))[..., 0]
    values = disparity(codes, 18.849538803100586, 633.323486328125)
    assert np.array_equal(np.load(satin.folder / "depth.npy"), values)
    pfm_file.write(satin.folder / "values.pfm", values)
    expected = dof(satin, "sharp.jpg", "expected.ppm", "--depth", "values.pfm", "--focus", repr(1 / 26.517597),
                   "--quality", "fast")
    assert (satin.folder / "out.ppm").read_bytes() == expected
