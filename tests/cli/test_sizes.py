"""Results of another size: what travels with them, their names, several sizes of one picture, and --fast-decode."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import FULL_CODECS, files_below

Image = pytest.importorskip("PIL.Image")
import photo_file as made  # noqa: E402

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="photographs need the codecs of SATIN_CODECS=FULL")

DATA = Path(os.environ.get("SATIN_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
WIDTH, HEIGHT = 240, 160


def exiftool(*arguments):
    if shutil.which("exiftool") is None:
        pytest.skip("exiftool is missing (Debian: libimage-exiftool-perl)")
    return subprocess.run(["exiftool", *map(str, arguments)], capture_output=True, text=True, check=False).stdout


def tags(path):
    """All tags by group and name, with numbers as numbers; exiftool has no warning."""
    found = json.loads(exiftool("-j", "-n", "-G1", "-a", path))[0]
    assert not [value for name, value in found.items() if name in ("ExifTool:Warning", "ExifTool:Error")], found
    return found


def smooth(width=WIDTH, height=HEIGHT):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([128 + 90 * np.sin(x / 17), 128 + 90 * np.cos(y / 23), 128 + 90 * np.sin((x + y) / 31)],
                    axis=-1).astype(np.uint8)


@pytest.fixture
def photo(satin):
    """in.jpg with everything that depends on the size, and places and times that do not."""
    Image.fromarray(smooth()).save(satin.folder / "in.jpg", quality=95, dpi=(300, 300))
    Image.fromarray(smooth(40, 30)).save(satin.folder / "small.jpg")
    exiftool("-overwrite_original", "-n", "-ExifImageWidth=%d" % WIDTH, "-ExifImageHeight=%d" % HEIGHT,
             "-SubjectArea=120 40 30 20", "-SubjectLocation=60 80", "-FocalPlaneXResolution=4000",
             "-FocalPlaneYResolution=4100", "-DateTimeOriginal=2024:05:06 07:08:09", "-GPSLatitude=48.5",
             "-GPSLatitudeRef=N", "-ThumbnailImage<=%s" % (satin.folder / "small.jpg"),
             "-XMP-exif:ExifImageWidth=%d" % WIDTH, "-XMP-tiff:ImageWidth=%d" % WIDTH,
             "-XMP-tiff:ImageHeight=%d" % HEIGHT,
             "-XMP-dc:Title=kept", "-XMP-GPano:FullPanoWidthPixels=480", "-XMP-GPano:CroppedAreaLeftPixels=20",
             "-XMP-GPano:CroppedAreaImageWidthPixels=%d" % WIDTH,
             "-RegionInfo={AppliedToDimensions={W=240,H=160,Unit=pixel},RegionList=[{Area={X=0.5,Y=0.5,W=0.1,H=0.1,"
             "Unit=normalized},Name=Somebody,Type=Face}]}", satin.folder / "in.jpg")
    return "in.jpg"


def test_sizes_follow_a_resize(satin, photo):
    assert satin.good("resize", photo, "-o", "out.jpg", "--size", 120).error == ""
    found = tags(satin.folder / "out.jpg")
    assert (found["File:ImageWidth"], found["File:ImageHeight"]) == (120, 80)
    assert (found["ExifIFD:ExifImageWidth"], found["ExifIFD:ExifImageHeight"]) == (120, 80)
    assert (found["XMP-exif:ExifImageWidth"], found["XMP-tiff:ImageWidth"]) == (120, 120)
    assert found["XMP-tiff:ImageHeight"] == 80
    assert found["ExifIFD:SubjectArea"] == "60 20 15 10" and found["ExifIFD:SubjectLocation"] == "30 40"
    assert found["ExifIFD:FocalPlaneXResolution"] == 2000 and found["ExifIFD:FocalPlaneYResolution"] == 2050
    assert (found["JFIF:XResolution"], found["IFD0:XResolution"]) == (300, 300)
    assert found["ExifIFD:DateTimeOriginal"] == "2024:05:06 07:08:09" and found["GPS:GPSLatitude"] == 48.5
    assert found["XMP-dc:Title"] == "kept" and found["XMP-mwg-rs:RegionName"] == "Somebody"
    assert (found["XMP-GPano:FullPanoWidthPixels"], found["XMP-GPano:CroppedAreaImageWidthPixels"]) == (240, 120)
    assert not [name for name in found if name.startswith("IFD1")]


def test_places_follow_a_crop(satin, photo):
    result = satin.good("crop", photo, "-o", "out.jpg", "--box", "80,20,100,60")
    assert "SubjectLocation" not in exiftool("-s", satin.folder / "out.jpg")  # it was cut off
    assert "regions in XMP" in result.error and "subject" in result.error and result.error.count("Warning") == 1
    found = tags(satin.folder / "out.jpg")
    assert (found["ExifIFD:ExifImageWidth"], found["ExifIFD:ExifImageHeight"]) == (100, 60)
    assert found["ExifIFD:SubjectArea"] == "40 20 30 20" and found["ExifIFD:FocalPlaneXResolution"] == 4000
    assert found["XMP-GPano:CroppedAreaLeftPixels"] == 100 and found["XMP-GPano:CroppedAreaImageWidthPixels"] == 100
    assert found["GPS:GPSLatitude"] == 48.5 and "XMP-mwg-rs:RegionName" not in found


def test_a_pipeline_composes_its_boxes(satin, photo):
    satin.good("run", "crop box=80,20,100,60 | resize size=50 | crop box=10,0,30,30", photo, "-o", "out.jpg", "--quiet")
    found = tags(satin.folder / "out.jpg")
    assert (found["ExifIFD:ExifImageWidth"], found["ExifIFD:ExifImageHeight"]) == (30, 30)
    assert found["ExifIFD:SubjectArea"] == "10 10 15 10" and found["ExifIFD:FocalPlaneXResolution"] == 2000


def test_a_turned_subject_is_that_of_the_upright_picture(satin, photo):
    exiftool("-overwrite_original", "-n", "-Orientation=6", satin.folder / photo)
    satin.good("resize", photo, "-o", "out.jpg", "--size", 120, "--quiet")
    found = tags(satin.folder / "out.jpg")
    assert (found["File:ImageWidth"], found["File:ImageHeight"], found["IFD0:Orientation"]) == (80, 120, 1)
    assert found["ExifIFD:SubjectArea"] == "60 60 10 15"  # (120, 40) of 240 x 160 is (120, 120) of 160 x 240
    assert found["ExifIFD:FocalPlaneXResolution"] == 2050


def test_channels_are_cropped_or_named(satin):
    source = DATA / "exr" / "beachball_singlepart_rgbz.exr"
    if not source.exists():
        pytest.skip("%s is missing" % source)
    satin.good("crop", source, "-o", "part.exr", "--box", "10,20,300,200")
    again = satin.good("info", "part.exr", "--json").stdout
    assert b'"Z"' in again or b"Z" in again
    assert "channel" in satin.good("resize", source, "-o", "small.exr", "--size", 100).error


@pytest.mark.parametrize("name", ["portrait/ios9.jpg", "portrait/apple_mpf.jpg", "portrait/google_camera_2014.jpg",
                                  "gainmap/seine_sdr_gainmap_srgb.jpg", "gainmap/apple_gainmap_new.jpg"])
def test_photographs_are_consistent(satin, name):
    source = DATA / name
    if not source.exists():
        pytest.skip("%s is missing" % source)
    result = satin.good("resize", source, "-o", "out.jpg", "--size", 200)
    assert result.error.count("were left out:") == 1, result.error
    found = tags(satin.folder / "out.jpg")
    assert max(found["File:ImageWidth"], found["File:ImageHeight"]) == 200
    assert found.get("ExifIFD:ExifImageWidth", found["File:ImageWidth"]) == found["File:ImageWidth"]
    gone = ["IFD1", "XMP-GDepth", "XMP-GImage"]
    if "gain" not in name and "apple" not in name:  # the others have a gain map, which stays
        gone += ["MPF0", "XMP-hdrgm"]
    for group in gone:
        assert not [tag for tag in found if tag.startswith(group + ":")], group


# Depth of photographs


def depth_photo(satin, orientation=1):
    """240 x 160 with a depth of 120 x 80, in which one square of 8 x 8 samples at (60, 40) is nearer."""
    codes = np.full((80, 120), 200, np.uint8)
    codes[40:48, 60:68] = 40
    picture = made.jpeg(smooth(), orientation=orientation)
    (satin.folder / "in.jpg").write_bytes(made.gdepth(picture, made.png(codes)))
    return codes


def kept_codes(path):
    import base64
    import io

    text = path.read_bytes().decode("latin-1")
    start = text.index('GDepth:Data="') + len('GDepth:Data="')
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text[start : text.index('"', start)]))))


DOF = "dof depth-from=photo strength=4 focus-at=52%,55%"


def test_kept_depth_follows_a_crop_and_a_resize(satin):
    depth_photo(satin)
    satin.good("run", DOF + " | crop box=100,60,120,80 | resize size=60", "in.jpg", "-o", "out.jpg", "--keep-depth", "--quiet",
               "--depth-out", "depth.tif")
    codes = kept_codes(satin.folder / "out.jpg")
    assert codes.shape == (40, 60)  # samples (50, 30) to (110, 70), as many as the result has pixels
    assert (codes[10:18, 10:18] == 40).all() and (codes == 40).sum() == 64
    assert np.asarray(Image.open(satin.folder / "depth.tif")).shape == (40, 60)
    satin.good("resize", "in.jpg", "-o", "plain.jpg", "--size", 60, "--quiet")
    again = json.loads(satin.good("dof", "out.jpg", "-o", "again.png", "--depth-from", "photo", "--strength", 1, "--json").stdout)
    report = again["files"][0]
    assert report["photo"]["depth"]["width"] == 60 and report["width"] == 60
    x, y = (float(part.rstrip("%")) for part in report["photo"]["focus"]["place"].split(","))
    assert (x, y) == pytest.approx(((0.52 * 240 - 100) / 1.2, (0.55 * 160 - 60) / 0.8))
    # The original follows as well: refocusing begins with the sharp picture.
    assert report["photo"]["original"] == "GImage:Data"


@pytest.mark.parametrize("first", ["crop box=100,60,120,80", "resize size=120", "crop aspect=1:1 | resize size=50%"])
def test_the_depth_of_a_photograph_follows_to_dof(satin, first):
    depth_photo(satin)
    satin.good("dof", "in.jpg", "-o", "whole.png", "--depth-from", "photo", "--strength", 1, "--depth-out", "depth.tif")
    lens = "focus=0.6 strength=6 max-radius=16"
    satin.good("run", first + " | dof depth-from=photo " + lens, "in.jpg", "-o", "carried.png", "--quiet")
    satin.good("run", first + " | dof depth=depth.tif depth-scale=1 " + lens, "in.jpg", "-o", "given.png", "--quiet")
    carried, given = (np.asarray(Image.open(satin.folder / name)).astype(int) for name in ("carried.png", "given.png"))
    assert carried.shape == given.shape and np.abs(carried - given).max() <= 1
    satin.good("run", first, "in.jpg", "-o", "sharp.png", "--quiet")
    assert np.abs(carried - np.asarray(Image.open(satin.folder / "sharp.png"))).max() > 3


def test_depth_keeps_its_samples_where_the_result_has_more_pixels(satin):
    codes = depth_photo(satin)
    satin.good("run", DOF + " | resize size=180", "in.jpg", "-o", "out.jpg", "--keep-depth", "--quiet")
    assert np.array_equal(kept_codes(satin.folder / "out.jpg"), codes)


# Names


def many(satin, count=2, size=(90, 60)):
    for index in range(count):
        Image.fromarray(smooth(*size)).save(satin.folder / ("p%d.jpg" % index))


def test_names_have_the_size(satin):
    many(satin)
    satin.good("resize", "p0.jpg", "p1.jpg", "-o", "{stem}_{width}x{height}.png", "--size", 45)
    assert [name for name in files_below(satin.folder) if name.endswith("png")] == ["p0_45x30.png", "p1_45x30.png"]
    satin.good("blur", "p0.jpg", "-o", "{stem}_{width}.png", "--radius", 1)
    assert (satin.folder / "p0_90.png").exists()
    satin.good("run", "crop aspect=1:1 | resize size=50%", "p0.jpg", "-o", "sq{width}.png")
    assert (satin.folder / "sq30.png").exists()


@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize("form", ["jpg", "png", "tif"])
def test_names_have_the_upright_size(satin, form, orientation):
    block = Image.Exif()
    block[0x0112] = orientation
    options = {"tiffinfo": block} if form == "tif" else {"exif": block}
    Image.fromarray(smooth(90, 60)).save(satin.folder / ("in." + form), **options)
    satin.good("resize", "in." + form, "-o", "{width}x{height}.png", "--size", 45)
    assert (satin.folder / ("30x45.png" if orientation == 6 else "45x30.png")).exists()


def test_collisions_are_found_before_anything_is_written(satin):
    many(satin)
    satin.bad(2, "resize", "p0.jpg", "p1.jpg", "-o", "{width}.png", "--size", 45, says=["p0.jpg", "p1.jpg", "45.png"])
    assert files_below(satin.folder) == ["p0.jpg", "p1.jpg"]
    (satin.folder / "45.png").write_bytes(b"mine")
    satin.bad(2, "resize", "p0.jpg", "-o", "{width}.png", "--size", 45, says=["45.png", "--overwrite"])
    assert (satin.folder / "45.png").read_bytes() == b"mine"


def test_files_without_a_size_fail_alone(satin):
    many(satin)
    (satin.folder / "p1.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    result = satin("resize", "p0.jpg", "p1.jpg", "-o", "{stem}_{width}.png", "--size", 45)
    assert result.returncode == 1 and "p1.jpg" in result.error
    assert (satin.folder / "p0_45.png").exists()


def test_resume_and_dry_run_know_the_names(satin):
    many(satin, 1)
    line = ("resize", "p0.jpg", "-o", "out/{stem}_{width}.png", "--size", "30,45")
    told = satin.good(*line, "--dry-run").stdout.decode()
    assert "out/p0_30.png" in told and "out/p0_45.png" in told and not (satin.folder / "out").exists()
    rows = json.loads(satin.good(*line, "--resume", "--json").stdout)["files"]
    assert [(row["output"], row["status"]) for row in rows] == [("out/p0_30.png", "done"), ("out/p0_45.png", "done")]
    rows = json.loads(satin.good(*line, "--resume", "--json").stdout)["files"]
    assert [row["status"] for row in rows] == ["unchanged", "unchanged"]


def test_placeholders_of_size_are_for_outputs(satin, picture):
    satin.bad(2, "blur", "in.png", "-o", "out.png", "--radius", 1, "--mask", "{stem}_{width}.png", says="{width}", lines=4)


# Several sizes


def test_a_series_of_sizes_makes_what_single_runs_make(satin):
    many(satin)
    satin.good("resize", "p0.jpg", "p1.jpg", "-o", "{stem}_{width}.png", "--size", "20,40,60")
    for size in 20, 40, 60:
        satin.good("resize", "p1.jpg", "-o", "single.png", "--size", size, "--overwrite")
        assert (satin.folder / ("p1_%d.png" % size)).read_bytes() == (satin.folder / "single.png").read_bytes()
        assert (satin.folder / ("p0_%d.png" % size)).exists()


def test_sizes_beyond_the_picture_are_skipped(satin):
    many(satin, 1)
    result = satin.good("resize", "p0.jpg", "-o", "{stem}_{width}.jpg", "--size", "40,80,160,320", "--json")
    rows = json.loads(result.stdout)["files"]
    assert [row["status"] for row in rows] == ["done", "done", "done", "repeated"]
    assert [row["output"] for row in rows] == ["p0_40.jpg", "p0_80.jpg", "p0_90.jpg", "p0_90.jpg"]
    assert "skip resize size=320: no larger than 'p0_90.jpg'" in result.error
    assert files_below(satin.folder) == ["p0.jpg", "p0_40.jpg", "p0_80.jpg", "p0_90.jpg"]
    satin.good("resize", "p0.jpg", "-o", "e_{width}.jpg", "--size", "80,160", "--enlarge")
    assert (satin.folder / "e_160.jpg").exists()


def test_aspects_in_a_series(satin):
    many(satin, 1)
    satin.good("crop", "p0.jpg", "-o", "{stem}_{width}x{height}.png", "--aspect", "1:1,2:1")
    assert (satin.folder / "p0_60x60.png").exists() and (satin.folder / "p0_90x45.png").exists()


def test_a_series_needs_names_that_differ(satin, picture):
    satin.bad(2, "resize", "in.png", "-o", "out.png", "--size", "5,10", says="{index}")
    satin.bad(2, "resize", "in.png", "-o", "{stem}_small.png", "--size", "5,10", says="{index}")
    satin.good("resize", "in.png", "-o", "n{index}.png", "--size", "5,10")
    assert (satin.folder / "n2.png").exists()


# --fast-decode


@pytest.mark.parametrize("options,part,size", [(("--size", 60), "1/4", (60, 40)), (("--size", 120), "1/2", (120, 80)),
                                               (("--size", 130), None, (130, 87)), (("--size", "10%"), "1/8", (24, 16)),
                                               (("--size", "40x40", "--fit", "cover"), "1/4", (40, 40))])
def test_fast_decode_is_close_and_reported(satin, options, part, size):
    Image.fromarray(smooth()).save(satin.folder / "in.jpg", quality=92)
    satin.good("resize", "in.jpg", "-o", "exact.png", *options)
    row = json.loads(satin.good("resize", "in.jpg", "-o", "fast.png", *options, "--fast-decode", "--json").stdout)["files"][0]
    assert row.get("fast_decode") == part and (row["width"], row["height"]) == (WIDTH, HEIGHT)
    exact, fast = (np.asarray(Image.open(satin.folder / name)).astype(int) for name in ("exact.png", "fast.png"))
    assert exact.shape == fast.shape == (size[1], size[0], 3)
    assert abs(exact - fast).max() <= 62
    assert (part is None) == np.array_equal(exact, fast)


def test_fast_decode_knows_orientation_and_metadata(satin, photo):
    exiftool("-overwrite_original", "-n", "-Orientation=6", satin.folder / photo)
    for name, options in ("exact.jpg", ()), ("fast.jpg", ("--fast-decode",)):
        satin.good("resize", photo, "-o", name, "--size", 60, "--quiet", *options)
    exact, fast = tags(satin.folder / "exact.jpg"), tags(satin.folder / "fast.jpg")
    for name in exact:
        if name.startswith(("ExifIFD:", "XMP-", "GPS:", "IFD0:")):
            assert fast[name] == exact[name], name


def test_fast_decode_where_it_has_no_use(satin, picture):
    satin.good("resize", "in.png", "-o", "a.png", "--size", 5)
    satin.good("resize", "in.png", "-o", "b.png", "--size", 5, "--fast-decode")  # PNG: decoded in full
    assert (satin.folder / "a.png").read_bytes() == (satin.folder / "b.png").read_bytes()
    satin.bad(2, "run", "blur radius=1 | resize size=5", "in.png", "-o", "c.png", "--fast-decode", says="first")
    satin.bad(2, "run", "resize size=5 | blur radius=1 mask=in.png", "in.png", "-o", "c.png", "--fast-decode", says="masks")


def test_fast_decode_of_a_series_is_enough_for_the_largest(satin):
    Image.fromarray(smooth()).save(satin.folder / "in.jpg", quality=92)
    rows = json.loads(satin.good("resize", "in.jpg", "-o", "{width}.png", "--size", "20,100", "--fast-decode", "--json").stdout)["files"]
    assert [row["fast_decode"] for row in rows] == ["1/2", "1/2"]
