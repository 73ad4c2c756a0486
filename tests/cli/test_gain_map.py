"""Gain maps of photographs: read, described, carried through crop and resize, covered, and written as Ultra HDR."""
import io
import json
import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from conftest import FULL_CODECS

Image = pytest.importorskip("PIL.Image")
import pfm_file  # noqa: E402
import photo_file as made  # noqa: E402
from test_sizes import DATA, tags  # noqa: E402
from view_server import View, needs_server  # noqa: E402

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="gain maps need the codecs of SATIN_CODECS=FULL")
ISO = b"urn:iso:std:iso:ts:21496:-1\0"
HDRGM = "http://ns.adobe.com/hdr-gain-map/1.0/"
WORDS = {"Version": "1.0", "GainMapMin": "-0.5", "GainMapMax": "2.5", "Gamma": "0.8", "OffsetSDR": "0.015625",
         "OffsetHDR": "0.015625", "HDRCapacityMin": "0", "HDRCapacityMax": "2.5"}


def grey_jpeg(codes):
    stream = io.BytesIO()
    Image.fromarray(codes).save(stream, "JPEG", quality=100)
    return stream.getvalue()


def xmp_words(words):
    return made.segment(0xE1, made.XMP + ('<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description '
                                          'xmlns:hdrgm="%s" %s/></r:RDF>' % (HDRGM, made.attributes_of("hdrgm", words))).encode())


def ramp(width, height):
    """Codes that rise with x and y, each by less than 1.5."""
    y, x = np.mgrid[0:height, 0:width]
    return (16 + 1.25 * x + 0.75 * y).astype(np.uint8)


def ultra_hdr(codes, size=(240, 160), orientation=None, words=None):
    y, x = np.mgrid[0:size[1], 0:size[0]]
    base = np.stack([40 + 120 * x / size[0], 60 + 80 * y / size[1], 100 + 0 * x], axis=-1).astype(np.uint8)
    return made.apple(made.jpeg(base, orientation), [made.with_segments(grey_jpeg(codes), [xmp_words({**WORDS, **(words or {})})])])


def map_of(path):
    """The codes of the last picture of an Ultra HDR file, found by its index, and its words."""
    data = Path(path).read_bytes()
    at = data.index(b"MPF\0") + 4
    order = ">" if data[at:at + 2] == b"MM" else "<"
    entries = data.index(struct.pack(order + "HH", 0xB002, 7), at)
    place = at + struct.unpack(order + "I", data[entries + 8:entries + 12])[0]
    first, second = (struct.unpack(order + "IIIHH", data[place + 16 * i:place + 16 * i + 16]) for i in range(2))
    start = at + second[2]
    assert first[1] == start and start + second[1] == len(data)  # both pictures, and nothing else
    part = data[start:]
    assert part[:2] == b"\xff\xd8" and part[-2:] == b"\xff\xd9" and ISO in part and ISO in data[:start]
    length = int(re.search(rb'Item:Semantic="GainMap" Item:Length="(\d+)"', data[:start]).group(1))
    assert length == len(part)
    words = dict(re.findall(r'hdrgm:(\w+)="([^"]*)"', part.decode("latin-1")))
    return np.asarray(Image.open(io.BytesIO(part))), words


@pytest.fixture
def photo(satin):
    (satin.folder / "in.jpg").write_bytes(ultra_hdr(ramp(120, 80)))
    return "in.jpg"


def test_info_describes_it(satin, photo):
    text = satin.good("info", photo).stdout.decode()
    assert re.search(r"gain map +120 x 80, 1 channel, up to 5\.6\d* times white \(Ultra HDR\)", text), text
    (file,) = json.loads(satin.good("info", photo, "--json").stdout)["files"]
    details = file["gain_map_details"]
    assert file["gain_map"] is True and file["pages"] == 1 and file["warnings"] == []
    assert [details[key] for key in ("kind", "width", "height", "channels", "base_is_hdr")] == ["Ultra HDR", 120, 80, 1, False]
    assert details["headroom"] == pytest.approx(2 ** 2.5) and details["min"] == [-0.5] * 3 and details["gamma"] == [0.8] * 3


@pytest.mark.parametrize("name, kind, size, channels, headroom", [
    ("gainmap/apple_gainmap_new.jpg", "Apple", None, 1, 4.532783),
    ("gainmap/apple_gainmap_old.jpg", "Apple", None, 1, None),
    ("gainmap/paris_exif_xmp_gainmap_littleendian.jpg", "Ultra HDR", (512, 384), 1, 2 ** 3.5),
    ("gainmap/seine_sdr_gainmap_srgb.jpg", "Ultra HDR", (400, 300), 3, 2 ** 1.3),
    ("portrait/apple_mpf.jpg", "Apple", None, 1, None),
    ("portrait/pug.heic", "Apple", (2016, 1512), 1, None)])
def test_info_of_real_files(satin, name, kind, size, channels, headroom):
    source = DATA / name
    if not source.exists():
        pytest.skip("%s is missing" % source)
    (file,) = json.loads(satin.good("info", source, "--json").stdout)["files"]
    details = file["gain_map_details"]
    assert file["gain_map"] is True and (details["kind"], details["channels"]) == (kind, channels)
    assert size in (None, (details["width"], details["height"]))
    assert details["headroom"] == pytest.approx(headroom) if headroom else 1 < details["headroom"] <= 8


@pytest.mark.parametrize("name", ["seine_sdr_gainmap_gammazero.avif", "seine_sdr_gainmap_srgb.avif"])
def test_tone_maps_of_avif_are_named(satin, name):
    source = DATA / "gainmap" / name
    if not source.exists():
        pytest.skip("%s is missing" % source)
    result = satin.good("info", source)
    assert re.search(r"gain map +cannot be used", result.stdout.decode()) and "its gain map cannot be used: " in result.error


def test_a_crop_cuts_the_map(satin, photo):
    assert satin.good("crop", photo, "-o", "out.jpg", "--box", "40,20,100,60").error == ""
    codes, words = map_of(satin.folder / "out.jpg")
    assert codes.shape == (30, 50) and np.abs(codes - ramp(120, 80)[10:40, 20:70].astype(int)).max() <= 2
    assert {name: float(words[name]) for name in WORDS} == {name: float(WORDS[name]) for name in WORDS}
    assert tags(satin.folder / "out.jpg")["MPF0:NumberOfImages"] == 2


def test_a_box_between_codes_is_cut_by_area(satin, photo):
    satin.good("crop", photo, "-o", "out.jpg", "--box", "41,21,100,60")
    codes, _ = map_of(satin.folder / "out.jpg")
    rows = ramp(120, 80)[10:40] / 4 + ramp(120, 80)[11:41] / 4
    assert codes.shape == (30, 50) and np.abs(codes - rows[:, 20:70] - rows[:, 21:71]).max() <= 2


def test_a_resize_shrinks_the_map(satin, photo):
    assert satin.good("resize", photo, "-o", "out.jpg", "--size", 60).error == ""
    codes, _ = map_of(satin.folder / "out.jpg")
    mean = ramp(120, 80).reshape(20, 4, 30, 4).mean((1, 3))
    assert codes.shape == (20, 30) and np.abs(codes - mean).max() <= 2
    satin.good("resize", photo, "-o", "large.jpg", "--size", 480, "--enlarge")
    assert map_of(satin.folder / "large.jpg")[0].shape == (80, 120)
    satin.good("resize", photo, "-o", "stretched.jpg", "--size", "480x80", "--fit", "stretch", "--enlarge")
    assert map_of(satin.folder / "stretched.jpg")[0].shape == (40, 240)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_map_is_turned_upright(satin, orientation):
    stored = made.turned(ramp(120, 80), orientation)
    size = (240, 160) if orientation < 5 else (160, 240)
    (satin.folder / "in.jpg").write_bytes(ultra_hdr(stored, size, orientation))
    satin.good("crop", "in.jpg", "-o", "out.jpg", "--box", "0,0,240,160")
    assert np.abs(map_of(satin.folder / "out.jpg")[0] - ramp(120, 80).astype(int)).max() <= 2


def test_filters_keep_or_drop(satin, photo):
    assert satin.good("median", photo, "-o", "median.jpg", "--radius", 1).error == ""
    assert map_of(satin.folder / "median.jpg")[0].shape == (80, 120)
    result = satin.good("threshold", photo, "-o", "ink.jpg")
    assert "its gain map was left out, as threshold" in result.error and b"MPF\0" not in (satin.folder / "ink.jpg").read_bytes()
    assert satin.good("threshold", photo, "-o", "ink2.jpg", "--gain-map", "drop").error == ""
    assert satin.good("crop", photo, "-o", "dropped.jpg", "--box", "0,0,50,50", "--gain-map", "drop").error == ""
    assert b"MPF\0" not in (satin.folder / "dropped.jpg").read_bytes()
    assert satin.good("blur", photo, "-o", "blur.jpg", "--gain-map", "keep").error == ""
    assert np.abs(map_of(satin.folder / "blur.jpg")[0] - ramp(120, 80).astype(int)).max() <= 2
    satin.good("crop", photo, "-o", "strip.jpg", "--box", "0,0,50,50", "--strip")
    assert b"MPF\0" not in (satin.folder / "strip.jpg").read_bytes()


def test_other_formats_hold_no_gain_map(satin, photo):
    for name in "out.png", "out.tif":
        error = satin.good("resize", photo, "-o", name, "--size", 60).error
        assert error.count("Warning") == 1 and "gain map" in error, error


def test_redact_drops_or_covers_it(satin, photo):
    satin.good("redact", photo, "-o", "out.jpg", "--box", "80,40,80,60", "--quiet")
    assert b"MPF\0" not in (satin.folder / "out.jpg").read_bytes()
    satin.good("redact", photo, "-o", "kept.jpg", "--box", "80,40,80,60", "--gain-map", "keep", "--quiet")
    codes, _ = map_of(satin.folder / "kept.jpg")
    assert codes.shape == (80, 120) and np.ptp(codes[24:48, 40:80]) <= 1  # blocks of JPEG inside the box
    outside = np.ones((80, 120), bool)
    outside[16:56, 32:88] = False  # the blocks that it meets
    assert np.abs(codes - ramp(120, 80).astype(int))[outside].max() <= 2


def test_maps_that_cannot_be_used_are_left_out(satin):
    for name, words, says in [("gamma", {"Gamma": "0"}, "the gamma is 0"), ("nan", {"GainMapMax": "nan"}, "GainMapMax"),
                              ("order", {"GainMapMin": "4"}, "smallest gain")]:
        (satin.folder / (name + ".jpg")).write_bytes(ultra_hdr(ramp(120, 80), words=words))
        result = satin.good("resize", name + ".jpg", "-o", name + "_out.jpg", "--size", 60)
        assert "its gain map cannot be used: " in result.error and says in result.error, result.error
    (satin.folder / "ratio.jpg").write_bytes(ultra_hdr(ramp(80, 80)))
    assert "ratio" in satin.good("resize", "ratio.jpg", "-o", "out.jpg", "--size", 60).error


def restored(base, codes):
    """ISO 21496-1 in linear light, with the words above."""
    low, high, gamma, offset = -0.5, 2.5, 0.8, 1 / 64
    stops = low + (high - low) * (codes / 255) ** (1 / gamma)
    return (base + offset) * 2 ** stops[..., None] - offset


def test_vips_restores_the_same_light(satin):
    """libultrahdr applies the map of a result as this definition does."""
    pyvips = pytest.importorskip("pyvips")
    if pyvips.type_find("VipsOperation", "uhdrload") == 0:
        pytest.skip("this libvips reads no Ultra HDR")
    (satin.folder / "in.jpg").write_bytes(ultra_hdr(ramp(120, 80)))
    satin.good("crop", "in.jpg", "-o", "out.jpg", "--box", "0,0,200,100")
    picture = pyvips.Image.uhdrload(str(satin.folder / "out.jpg"))
    light = picture.uhdr2scRGB().numpy()
    base = np.asarray(Image.open(satin.folder / "out.jpg").convert("RGB")) / 255
    linear = np.where(base <= 0.04045, base / 12.92, ((base + 0.055) / 1.055) ** 2.4)
    codes, _ = map_of(satin.folder / "out.jpg")
    large = np.asarray(Image.fromarray(codes).resize((200, 100), Image.BILINEAR), float)
    ratio = light / restored(linear, large)
    assert np.median(ratio) == pytest.approx(1, abs=1 / 255) and np.percentile(np.abs(ratio - 1), 95) < 0.03


def light_of(path):
    """The light that a file restores, by its own words, in double precision."""
    base = np.asarray(Image.open(path).convert("RGB")) / 255
    linear = np.where(base <= 0.04045, base / 12.92, ((base + 0.055) / 1.055) ** 2.4)
    codes, words = map_of(path)
    codes = codes.reshape(codes.shape[0], codes.shape[1], -1)
    large = np.stack([np.asarray(Image.fromarray(codes[..., c].astype(np.float32)).resize(base.shape[1::-1], Image.BILINEAR))
                      for c in range(codes.shape[2])], axis=-1)
    low, high, gamma = (float(words[name]) for name in ("GainMapMin", "GainMapMax", "Gamma"))
    return np.maximum((linear + 1 / 64) * 2 ** (low + (high - low) * (large / 255) ** (1 / gamma)) - 1 / 64, 0)


@pytest.fixture
def ultra(satin, photo):
    """The photograph as Satin writes it, without a change of its pixels."""
    satin.good("crop", photo, "-o", "ultra.jpg", "--box", "0,0,240,160")
    return "ultra.jpg"


@pytest.mark.parametrize("options", [["--radius", 9], ["--sigma", 3.5], ["--radius", 4, "--mask", "half.png"]])
def test_blur_works_on_the_restored_light(satin, ultra, options):
    half = np.zeros((160, 240), np.uint8)
    half[:, 120:] = 255
    Image.fromarray(half).save(satin.folder / "half.png")
    pfm_file.write(satin.folder / "light.pfm", light_of(satin.folder / ultra))
    assert satin.good("blur", ultra, "-o", "out.jpg", *options).error == ""
    satin.good("blur", ultra, "-o", "sdr.jpg", "--gain-map", "drop", *options)
    satin.good("blur", "light.pfm", "-o", "truth.pfm", *options)
    satin.good("blur", ultra, "-o", "out.pfm", *options)
    assert np.array_equal(*(np.asarray(Image.open(satin.folder / name)) for name in ("out.jpg", "sdr.jpg")))
    truth = pfm_file.read(satin.folder / "truth.pfm")
    assert np.abs(pfm_file.read(satin.folder / "out.pfm") / truth - 1).max() < 0.001
    error = np.abs(light_of(satin.folder / "out.jpg") / truth - 1)
    assert np.median(error) < 0.01 and np.percentile(error, 99) < 0.1  # of two JPEG files
    if "--mask" in options:
        assert np.abs(map_of(satin.folder / "out.jpg")[0][:, :50] - ramp(120, 80)[:, :50].astype(int)).max() <= 2


def test_light_of_a_tall_picture_is_filtered_by_rows(satin):
    """As the light in a float file, whose picture is filtered as a whole."""
    (satin.folder / "in.jpg").write_bytes(ultra_hdr(ramp(32, 160).repeat(10, 0), (64, 3200)))
    satin.good("crop", "in.jpg", "-o", "tall.jpg", "--box", "0,0,64,3200")
    assert satin.good("blur", "tall.jpg", "-o", "out.jpg", "--radius", 9).error == ""
    satin.good("blur", "tall.jpg", "-o", "out.pfm", "--radius", 9)
    error = np.abs(light_of(satin.folder / "out.jpg") / pfm_file.read(satin.folder / "out.pfm") - 1)
    assert np.median(error) < 0.01 and np.percentile(error, 99) < 0.1


def test_without_a_change_the_map_stays(satin, ultra):
    satin.good("crop", ultra, "-o", "kept.jpg", "--box", "0,0,240,160")
    satin.good("blur", ultra, "-o", "out.jpg", "--radius", 0)
    assert np.array_equal(map_of(satin.folder / "kept.jpg")[0], map_of(satin.folder / "out.jpg")[0])
    assert map_of(satin.folder / "kept.jpg")[1] == map_of(satin.folder / "out.jpg")[1]


def test_edges_are_those_of_the_base(satin):
    """A step of the map alone is no edge: the base is flat."""
    codes = np.where(np.arange(120) < 60, 20, 240)[None].repeat(80, 0).astype(np.uint8)
    flat = made.jpeg(np.full((160, 240, 3), 128, np.uint8))
    (satin.folder / "in.jpg").write_bytes(made.apple(flat, [made.with_segments(grey_jpeg(codes), [xmp_words(WORDS)])]))
    satin.good("edge-smooth", "in.jpg", "-o", "out.pfm", "--sigma-s", 20, "--sigma-r", 0.05)
    row = pfm_file.read(satin.folder / "out.pfm")[80, :, 0]
    steps = np.abs(np.diff(row))
    assert steps.max() < 0.1 * np.ptp(row)


def test_pipelines_use_light_too(satin, ultra):
    satin.good("run", "crop aspect=1:1 | blur radius=5 | resize size=50%", ultra, "-o", "out.jpg")
    satin.good("crop", ultra, "-o", "square.jpg", "--aspect", "1:1")
    assert map_of(satin.folder / "out.jpg")[0].shape == (40, 40)
    # Means over the picture stay: only the borders of the windows differ.
    assert light_of(satin.folder / "out.jpg").mean() == pytest.approx(light_of(satin.folder / "square.jpg").mean(), rel=0.02)


def test_kept_light_goes_into_floats(satin, ultra):
    assert satin.good("crop", ultra, "-o", "out.pfm", "--box", "0,0,240,160").error == ""
    assert np.abs(pfm_file.read(satin.folder / "out.pfm") / light_of(satin.folder / ultra) - 1).max() < 0.002
    satin.good("crop", ultra, "-o", "sdr.pfm", "--box", "0,0,240,160", "--gain-map", "drop")
    assert pfm_file.read(satin.folder / "sdr.pfm").max() < 1


def test_light_goes_into_a_float_tiff_if_asked(satin, ultra):
    """TIFF holds integers, too: without --gain-map use it gets the base."""
    for command in ["blur", "--radius", 3], ["convert"], ["crop", "--box", "20,10,200,100"]:
        assert satin.good(*command, ultra, "-o", "out.tif", "--gain-map", "use", "--overwrite").error == ""
        satin.good(*command, ultra, "-o", "out.pfm", "--overwrite")
        satin.good("convert", "out.tif", "-o", "tif.pfm", "--overwrite")
        assert np.array_equal(pfm_file.read(satin.folder / "tif.pfm"), pfm_file.read(satin.folder / "out.pfm"))
    assert pfm_file.read(satin.folder / "tif.pfm").max() > 0.5  # the base has 0.35 at most
    assert "gain map" in satin.good("convert", ultra, "-o", "base.tif").error
    assert np.asarray(Image.open(satin.folder / "base.tif")).dtype == np.uint8
    satin.good("crop", ultra, "-o", "kept.jpg", "--box", "0,0,240,160", "--gain-map", "use")
    assert map_of(satin.folder / "kept.jpg")[0].shape == (80, 120)


def test_use_needs_a_filter_in_linear_light(satin, ultra):
    for filters in ["median"], ["blur", "--space", "encoded"], ["redact", "--box", "0,0,9,9"]:
        satin.bad(2, *filters, ultra, "-o", "out.jpg", "--gain-map", "use", says=["--gain-map use needs"])


@needs_server
def test_the_page_says_that_light_is_used(satin, photo):
    with View(satin, photo, "-o", "out.jpg") as view:
        view.open()

        def uses_light(name, **values):
            return view.post("/api/settings", steps=[{"filter": name, "values": values}]).json()["uses_light"]
        assert uses_light("blur", radius="4") and not uses_light("blur", radius="4", space="encoded")
        assert not uses_light("median", radius="2") and uses_light("smooth")
