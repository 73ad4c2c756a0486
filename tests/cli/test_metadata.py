"""Metadata of outputs as Pillow reads it: profiles, EXIF, XMP, quality, times."""
import functools
import json
import os
from pathlib import Path

import numpy as np
import pytest

from conftest import FULL_CODECS

Image = pytest.importorskip("PIL.Image")
ImageCms = pytest.importorskip("PIL.ImageCms")
IFDRational = pytest.importorskip("PIL.TiffImagePlugin").IFDRational

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="metadata needs the codecs of SATIN_CODECS=FULL")

DATA = Path(os.environ.get("SATIN_TEST_DATA", Path(__file__).parents[2].parent / "shared/data"))
ORIENTED = sorted((DATA / "orientation").glob("*.jpg"))
FORMATS = ["jpg", "png", "tif", "webp"]
ORIENTATION, MAKE, SOFTWARE, EXIF, GPS = 0x0112, 0x010F, 0x0131, 0x8769, 0x8825
EXPOSURE, WIDTH, HEIGHT = 0x829A, 0xA002, 0xA003
XMP = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
       b'xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/" '
       b'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/">'
       b'<rdf:Description tiff:Orientation="6" dc:title="Title">'
       b"<exif:PixelXDimension>60</exif:PixelXDimension><xmp:Thumbnails>abcd</xmp:Thumbnails>"
       b"</rdf:Description></x:xmpmeta>")


@functools.lru_cache  # it carries the time of its making
def profile():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def photo():
    y, x = np.mgrid[0:40, 0:60]
    return Image.fromarray(np.stack([x * 4, y * 6, 128 + 0 * x], axis=2).astype(np.uint8))


def exif(orientation=6):
    block = Image.Exif()
    if orientation is not None:
        block[ORIENTATION] = orientation
    block[MAKE] = "Maker"
    block[SOFTWARE] = "Program"
    block[EXIF] = {EXPOSURE: IFDRational(1, 125), WIDTH: 60, HEIGHT: 40}
    block[GPS] = {1: "N", 2: (48.0, 30.0, 15.5)}
    return block


def save(path, form, tags=(), orientation=6):
    options = {"icc_profile": profile(), "exif": exif(orientation)}
    if form == "png":
        from PIL.PngImagePlugin import PngInfo
        text = PngInfo()
        text.add_itxt("XML:com.adobe.xmp", XMP.decode())
        options["pnginfo"] = text
    if form == "webp":
        options.update(xmp=XMP, lossless=True)
    if form == "tif":
        options["tiffinfo"] = {700: XMP, **options.pop("exif"), **dict(tags)}
    if form == "jpg":
        options["quality"] = 90
    photo().save(path, **options)
    if form == "jpg":  # this Pillow writes no XMP to JPEG
        data = path.read_bytes()
        body = b"http://ns.adobe.com/xap/1.0/\0" + XMP
        path.write_bytes(data[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + data[2:])


def xmp_of(image, path):
    if path.suffix == ".png":
        return image.text.get("XML:com.adobe.xmp", "").encode()
    if path.suffix == ".tif":
        return bytes(image.tag_v2.get(700, b""))
    if path.suffix == ".webp":
        return image.info.get("xmp", b"")
    data = path.read_bytes()
    at = data.find(b"http://ns.adobe.com/xap/1.0/\0")
    if at < 0:
        return b""
    size = int.from_bytes(data[at - 2 : at], "big")
    return data[at + 29 : at - 2 + size]


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_blocks_travel_between_formats(satin, source, target):
    save(satin.folder / ("in." + source), source)
    out = satin.folder / ("out." + target)
    satin.good("blur", "in." + source, "-o", out.name, "--radius", 1)
    image = Image.open(out)
    assert image.size == (40, 60)  # turned upright, once
    assert image.info["icc_profile"] == profile()
    block = image.getexif()
    assert block.get(ORIENTATION, 1) == 1
    assert block[MAKE].rstrip("\0") == "Maker" and block[SOFTWARE].rstrip("\0") == "Program"
    own = block.get_ifd(EXIF)
    assert float(own[EXPOSURE]) == 1 / 125
    assert (own[WIDTH], own[HEIGHT]) == (40, 60)
    assert [float(v) for v in block.get_ifd(GPS)[2]] == [48.0, 30.0, 15.5]
    packet = xmp_of(image, out)
    assert b'dc:title="Title"' in packet and b'tiff:Orientation="1"' in packet
    assert b">40</exif:PixelXDimension>" in packet and b"Thumbnails" not in packet


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("place", ["attribute", "element"])
def test_orientation_in_xmp_counts_where_exif_has_none(satin, monkeypatch, form, place):
    """6 in XMP. EXIF without orientation: turned. EXIF with 3: that wins. Afterwards both are 1."""
    words = (b' tiff:Orientation="6"/>' if place == "attribute"
             else b"><tiff:Orientation>6</tiff:Orientation></rdf:Description>")
    monkeypatch.setattr(f"{__name__}.XMP", b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/'
                        b'1999/02/22-rdf-syntax-ns#" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"><rdf:Description'
                        + words + b"</rdf:RDF></x:xmpmeta>")
    save(satin.folder / ("both." + form), form, orientation=3)
    save(satin.folder / ("alone." + form), form, orientation=None)
    for name, size, orientation in ("both", (60, 40), 3), ("alone", (40, 60), 6):
        file, out = name + "." + form, satin.folder / (name + "_out." + form)
        assert json.loads(satin.good("info", file, "--json").stdout)["files"][0]["orientation"] == orientation
        assert satin.good("blur", file, "-o", out.name, "--radius", 0).error == ""
        image = Image.open(out)
        assert image.size == size, name
        assert image.getexif().get(ORIENTATION, 1) == 1
        packet = xmp_of(image, out)
        assert b'Orientation="1"' in packet or b"Orientation>1<" in packet
        corner = np.asarray(image.convert("RGB")).astype(int)[0, -1]
        assert np.abs(corner - ((0, 234, 128) if name == "both" else (0, 0, 128))).max() < 25


@pytest.mark.parametrize("form", FORMATS)
def test_strip_drops_them(satin, form):
    save(satin.folder / ("in." + form), form)
    out = satin.folder / ("out." + form)
    satin.good("blur", "in." + form, "-o", out.name, "--radius", 1, "--strip")
    image = Image.open(out)
    assert image.size == (40, 60)
    assert "icc_profile" not in image.info and not xmp_of(image, out)
    assert MAKE not in image.getexif()
    assert b"Maker" not in out.read_bytes()


def iptc_sets():
    """A caption and two keywords."""
    return b"".join(b"\x1c\2" + bytes([number]) + len(text).to_bytes(2, "big") + text
                    for number, text in ((120, b"A caption"), (25, b"one"), (25, b"two")))


def iptc_segment():
    """They among the image resources of Photoshop."""
    sets = iptc_sets()
    body = (b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + len(sets).to_bytes(4, "big") + sets + b"\0" * (len(sets) % 2))
    return b"\xff\xed" + (len(body) + 2).to_bytes(2, "big") + body


def iptc_jpeg(path):
    photo().save(path, quality=90)
    data = path.read_bytes()
    path.write_bytes(data[:2] + iptc_segment() + data[2:])


def test_iptc_travels_between_jpeg_and_tiff(satin):
    from PIL import IptcImagePlugin
    iptc_jpeg(satin.folder / "a.jpg")
    wanted = {(2, 120): b"A caption", (2, 25): [b"one", b"two"]}
    assert IptcImagePlugin.getiptcinfo(Image.open(satin.folder / "a.jpg")) == wanted
    for source, target in (("a.jpg", "b.jpg"), ("b.jpg", "c.tif"), ("c.tif", "d.tif"), ("d.tif", "e.jpg")):
        satin.good("blur", source, "-o", target, "--radius", 1)
        assert IptcImagePlugin.getiptcinfo(Image.open(satin.folder / target)) == wanted, target
        satin.good("blur", target, "-o", "stripped" + target[1:], "--radius", 1, "--strip", "--overwrite")
        assert b"A caption" not in (satin.folder / ("stripped" + target[1:])).read_bytes()


def test_large_profiles_are_cut_into_segments_and_joined(satin):
    large = profile()
    large = (len(large) + 200000).to_bytes(4, "big") + large[4:] + np.random.default_rng(3).bytes(200000)
    photo().save(satin.folder / "in.jpg", icc_profile=large)
    satin.good("blur", "in.jpg", "-o", "out.jpg", "--radius", 1)
    assert Image.open(satin.folder / "out.jpg").info["icc_profile"] == large


def test_a_profile_of_colours_does_not_describe_a_grey_result(satin):
    save(satin.folder / "in.png", "png")
    satin.good("threshold", "in.png", "-o", "out.png")
    image = Image.open(satin.folder / "out.png")
    assert image.mode == "L" and "icc_profile" not in image.info


def test_the_thumbnail_does_not_show_what_is_redacted(satin):
    secret = b"\xff\xd8\xff\xe0SECRET-PREVIEW" * 30
    block = bytearray(exif(1).tobytes()[6:])
    # A second directory with the thumbnail, linked from the first.
    little = block[:2] == b"II"
    order = "little" if little else "big"
    first = int.from_bytes(block[4:8], order)
    count = int.from_bytes(block[first : first + 2], order)
    link = first + 2 + 12 * count
    at = len(block)

    def number(value, size):
        return value.to_bytes(size, order)

    entries = [(0x0103, 3, 6), (0x0201, 4, at + 2 + 3 * 12 + 4), (0x0202, 4, len(secret))]
    block[link : link + 4] = number(at, 4)
    block += number(len(entries), 2)
    for tag, kind, value in entries:
        data = number(value, 2) + b"\0\0" if kind == 3 else number(value, 4)
        block += number(tag, 2) + number(kind, 2) + number(1, 4) + data
    block += number(0, 4) + secret
    photo().save(satin.folder / "in.jpg", exif=b"Exif\0\0" + bytes(block))
    assert b"SECRET" in (satin.folder / "in.jpg").read_bytes()
    satin.good("redact", "in.jpg", "-o", "out.jpg", "--box", "10,10,20,20")
    out = (satin.folder / "out.jpg").read_bytes()
    assert b"SECRET" not in out and b"Maker" in out


def test_jpeg_keeps_quality_and_subsampling(satin):
    for quality, sampling in ((35, 2), (75, 1), (92, 0)):
        photo().save(satin.folder / "in.jpg", quality=quality, subsampling=sampling)
        satin.good("blur", "in.jpg", "-o", "out.jpg", "--radius", 1, "--overwrite")
        before, after = (Image.open(satin.folder / name) for name in ("in.jpg", "out.jpg"))
        assert after.quantization == before.quantization
        assert [layer[1:3] for layer in after.layer] == [layer[1:3] for layer in before.layer]
    satin.good("blur", "in.jpg", "-o", "told.jpg", "--radius", 1, "--jpeg-quality", 50)
    photo().save(satin.folder / "half.jpg", quality=50)
    assert Image.open(satin.folder / "told.jpg").quantization == Image.open(satin.folder / "half.jpg").quantization
    satin.bad(2, "blur", "in.jpg", "-o", "x.jpg", "--jpeg-quality", 101, says="--jpeg-quality")


def test_the_time_of_the_file_is_kept(satin, picture):
    os.utime(picture, (1234567890, 1234567890))
    satin.good("blur", "in.png", "-o", "out.png", "--radius", 1)
    assert (satin.folder / "out.png").stat().st_mtime == 1234567890


def test_lost_blocks_are_told(satin):
    save(satin.folder / "in.jpg", "jpg")
    assert "BMP holds no ICC profile" in satin.good("blur", "in.jpg", "-o", "out.bmp", "--radius", 1).error


@pytest.mark.parametrize("path", ORIENTED, ids=[path.stem for path in ORIENTED])
def test_orientation_files_come_out_upright(satin, path):
    satin.good("blur", path, "-o", "out.jpg", "--radius", 0)
    before, after = Image.open(path), Image.open(satin.folder / "out.jpg")
    turned = before.getexif().get(ORIENTATION, 1) in (5, 6, 7, 8)
    assert after.size == (before.size[::-1] if turned else before.size)
    assert after.getexif().get(ORIENTATION, 1) == 1
    assert after.info.get("icc_profile") == before.info.get("icc_profile")
    kept, old = dict(after.getexif()), dict(before.getexif())
    for tag in (ORIENTATION, 0x0100, 0x0101, EXIF):
        kept.pop(tag, None), old.pop(tag, None)
    assert kept == old
    from PIL import ImageOps
    upright = np.asarray(ImageOps.exif_transpose(before).convert("RGB"), int)
    assert np.abs(np.asarray(after.convert("RGB"), int) - upright).mean() < 2.5


def test_gamma_of_png_is_kept(satin):
    import png_file
    data = png_file.encode(np.full((4, 4, 3), 90, np.uint8))
    chunk = png_file._chunk(b"gAMA", (55000).to_bytes(4, "big"))
    (satin.folder / "in.png").write_bytes(data[:33] + chunk + data[33:])
    satin.good("blur", "in.png", "-o", "out.png", "--radius", 1)
    assert chunk in (satin.folder / "out.png").read_bytes()


def test_limits_name_their_option(satin, picture):
    satin.bad(1, "blur", "in.png", "-o", "x.png", "--radius", 1, "--max-pixels", 100, says=("100", "--max-pixels"))
    satin.bad(1, "blur", "in.png", "-o", "x.png", "--radius", 1, "--max-bytes", 99, says=("99", "--max-bytes"))
    satin.bad(2, "blur", "in.png", "-o", "x.png", "--radius", 1, "--max-pixels", 0, says="--max-pixels")
    satin.good("blur", "in.png", "-o", "x.png", "--radius", 1, "--max-pixels", 240)


@pytest.mark.parametrize("form", ["jpg", "png", "tif"])
def test_partial_files_are_taken_when_told(satin, form, noise):
    whole = noise((400, 48, 3))
    Image.fromarray(whole).save(satin.folder / ("all." + form))
    data = (satin.folder / ("all." + form)).read_bytes()
    # Pillow writes the directory of a TIFF first, so that its pixels end the file.
    (satin.folder / ("in." + form)).write_bytes(data[: len(data) * 6 // 10])
    satin.bad(1, "blur", "in." + form, "-o", "out.png", "--radius", 0, says="in." + form)
    result = satin.good("blur", "in." + form, "-o", "out.png", "--radius", 0, "--allow-partial")
    assert "part of the picture is missing" in result.error
    read = np.asarray(Image.open(satin.folder / "out.png"))
    expected = np.asarray(Image.open(satin.folder / ("all." + form)))
    np.testing.assert_array_equal(read[:200], expected[:200])


def test_sixteen_bits_become_eight_by_rounding(satin, noise):
    import png_file
    values = noise((16, 32, 3), np.uint16)
    png_file.write(satin.folder / "in.png", values)
    result = satin.good("blur", "in.png", "-o", "out.bmp", "--radius", 0)
    assert "16 bits were rounded to 8 bits" in result.error
    read = np.asarray(Image.open(satin.folder / "out.bmp"))
    np.testing.assert_array_equal(read, (values.astype(np.uint64) * 255 + 32767) // 65535)


def test_dither_keeps_the_mean(satin):
    import png_file
    values = np.tile(np.arange(64, dtype=np.uint16)[None, :].repeat(16, 1) * 40 + 3000, (16, 1))
    png_file.write(satin.folder / "in.png", values)
    satin.good("blur", "in.png", "-o", "out.bmp", "--radius", 0, "--dither")
    read = np.asarray(Image.open(satin.folder / "out.bmp").convert("L"), float)
    means = read.reshape(16, 64, 16).mean(axis=(0, 2))
    exact = values.reshape(16, 64, 16).mean(axis=(0, 2)) * 255 / 65535
    assert np.abs(means - exact).max() <= 1 / 512 + 1e-9
    png_file.write(satin.folder / "codes.png", np.arange(256, dtype=np.uint16)[None, :].repeat(20, 0) * 257)
    satin.good("blur", "codes.png", "-o", "codes.bmp", "--radius", 0, "--dither")
    np.testing.assert_array_equal(np.asarray(Image.open(satin.folder / "codes.bmp").convert("L"))[7], np.arange(256))


def test_floats_become_srgb_codes_not_black(satin):
    linear = np.linspace(-0.2, 1.2, 300, dtype=np.float32)[None, :].repeat(4, 0)
    (satin.folder / "in.pfm").write_bytes(b"Pf\n300 4\n-1.0\n" + linear[::-1].astype("<f4").tobytes())
    result = satin.good("blur", "in.pfm", "-o", "out.bmp", "--radius", 0)
    assert "sRGB codes" in result.error
    v = np.clip(linear.astype(float), 0, 1)
    encoded = np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)
    read = np.asarray(Image.open(satin.folder / "out.bmp").convert("L"), float)
    assert np.abs(read - encoded * 255).max() <= 0.51


