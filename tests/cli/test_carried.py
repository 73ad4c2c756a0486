"""Metadata beside ICC, EXIF and XMP: kept if the format can hold it, otherwise named in a warning."""
import hashlib
import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS
from test_metadata import iptc_jpeg, profile

Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="metadata needs the codecs of SATIN_CODECS=FULL")

TEXTS = [(b"tEXt", b"Title\0A title"), (b"zTXt", b"Author\0\0" + zlib.compress(b"Somebody" * 9)),
         (b"iTXt", b"Comment\0\0\0de\0Bemerkung\0" + "schön".encode())]
CICP_SRGB = bytes([1, 13, 0, 1])
EXTRAS = [(b"sBIT", bytes([5, 6, 5])), (b"tIME", struct.pack(">HBBBBB", 2020, 2, 29, 1, 2, 3)),
          (b"pHYs", struct.pack(">IIB", 11811, 11811, 1)), (b"cICP", CICP_SRGB)]


def chunks_of(path):
    data, at, found = path.read_bytes(), 8, []
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        found.append((name, data[at + 8 : at + 8 + size]))
        at += 12 + size
    return found


def write_png(path, array, chunks=()):
    data = png_file.encode(array)
    path.write_bytes(data[:33] + b"".join(png_file._chunk(*chunk) for chunk in chunks) + data[33:])


def with_segment(path, marker, body):
    data = path.read_bytes()
    path.write_bytes(data[:2] + struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body + data[2:])


def edges(shape=(24, 32, 3)):
    return (np.indices(shape).sum(axis=0) // 7 % 2 * 200 + 20).astype(np.uint8)


def small(folder, form, **options):
    Image.fromarray(edges()).save(folder / ("in." + form), **options)


def blur(satin, source, target, *options):
    return satin.good("blur", source, "-o", target, "--radius", "2", "--overwrite", *options)


def exiftool(path, *tags):
    if shutil.which("exiftool") is None:
        pytest.skip("exiftool is missing (Debian: libimage-exiftool-perl)")
    told = subprocess.run(["exiftool", "-s3", "-f", *("-" + tag for tag in tags), path], capture_output=True, text=True)
    return told.stdout.split("\n")[: len(tags)]


@pytest.mark.parametrize("chunk", TEXTS + EXTRAS, ids=lambda chunk: chunk[0].decode())
def test_chunks_of_png_are_kept_byte_for_byte(satin, chunk):
    write_png(satin.folder / "in.png", edges(), [chunk])
    assert blur(satin, "in.png", "out.png").error == ""
    assert chunks_of(satin.folder / "out.png").count(chunk) == 1
    blur(satin, "in.png", "out.png", "--strip")
    assert {name for name, _ in chunks_of(satin.folder / "out.png")} == {b"IHDR", b"IDAT", b"IEND"}


def test_damaged_chunks_are_not_carried(satin):
    write_png(satin.folder / "in.png", edges(), [(b"tEXt", b"no keyword ends"), TEXTS[0]])
    data = (satin.folder / "in.png").read_bytes()
    (satin.folder / "in.png").write_bytes(data.replace(b"A title", b"A titlE"))
    blur(satin, "in.png", "out.png")
    assert not [name for name, _ in chunks_of(satin.folder / "out.png") if name == b"tEXt"]


def test_grey_pictures_gain_no_significant_bits(satin):
    png_file.write(satin.folder / "in.png", edges().astype(np.uint8)[..., 0])
    for out in "out.jpg", "out.png":
        assert satin.good("blur", "in.png", "-o", out, "--radius", 1).error == ""
    assert b"sBIT" not in dict(chunks_of(satin.folder / "out.png"))


def test_significant_bits_fit_the_result(satin):
    write_png(satin.folder / "in.png", edges().astype(np.uint16) * 257, [(b"sBIT", bytes([12, 3, 12]))])
    blur(satin, "in.png", "out.png")
    assert (b"sBIT", bytes([12, 3, 12])) in chunks_of(satin.folder / "out.png")
    satin.good("threshold", "in.png", "-o", "mask.png")
    assert b"sBIT" not in dict(chunks_of(satin.folder / "mask.png"))
    palette = Image.fromarray(edges()).quantize(4)
    palette.save(satin.folder / "p.png", transparency=0)
    data = (satin.folder / "p.png").read_bytes()
    (satin.folder / "p.png").write_bytes(data[:33] + png_file._chunk(b"sBIT", bytes([5, 5, 5])) + data[33:])
    blur(satin, "p.png", "alpha.png")
    assert dict(chunks_of(satin.folder / "alpha.png"))[b"sBIT"] == bytes([5, 5, 5, 8])


@pytest.mark.parametrize("target", ["png", "jpg", "tif"])
@pytest.mark.parametrize("source", ["png", "jpg", "tif"])
def test_resolution_travels(satin, source, target):
    small(satin.folder, source, dpi=(300, 150))
    assert "resolution" not in blur(satin, "in." + source, "out." + target).error
    x, y = Image.open(satin.folder / ("out." + target)).info["dpi"]
    assert (round(x, 1), round(y, 1)) == (300, 150)
    if target != "png":
        assert (x, y) == (300, 150)
    blur(satin, "in." + source, "out." + target, "--strip")
    assert Image.open(satin.folder / ("out." + target)).info.get("dpi", (1, 1)) == (1, 1)


def test_resolution_in_centimetres_and_as_a_ratio(satin):
    Image.fromarray(edges()).save(satin.folder / "in.tif", tiffinfo={282: 100.5, 283: 40, 296: 3})
    blur(satin, "in.tif", "out.tif")
    blur(satin, "in.tif", "out.png")
    tags = Image.open(satin.folder / "out.tif").tag_v2
    assert (float(tags[282]), float(tags[283]), tags[296]) == (100.5, 40, 3)
    assert (b"pHYs", struct.pack(">IIB", 10050, 4000, 1)) in chunks_of(satin.folder / "out.png")
    write_png(satin.folder / "in.png", edges(), [(b"pHYs", struct.pack(">IIB", 2, 1, 0))])
    blur(satin, "in.png", "out.jpg")
    assert (satin.folder / "out.jpg").read_bytes()[13:18] == bytes([0, 0, 2, 0, 1])


@pytest.mark.parametrize("form", ["jpg", "tif", "png"])
def test_resolution_turns_with_the_picture(satin, form):
    block = Image.Exif()
    block[0x0112], block[0x011A], block[0x011B], block[0x0128] = 6, 300, 150, 2
    options = {"tiffinfo": block} if form == "tif" else {"exif": block, "dpi": (300, 150)}
    small(satin.folder, form, **options)
    blur(satin, "in." + form, "out.jpg")
    image = Image.open(satin.folder / "out.jpg")
    assert image.size == (24, 32) and image.info["jfif_density"] == (150, 300)
    assert (image.getexif()[0x011A], image.getexif()[0x011B]) == (150, 300)


def test_comments_of_jpeg_are_kept(satin):
    small(satin.folder, "jpg")
    for text in (b"second", b"first \xe4"):
        with_segment(satin.folder / "in.jpg", 0xFE, text)
    blur(satin, "in.jpg", "out.jpg")
    data = (satin.folder / "out.jpg").read_bytes()
    assert 0 < data.find(b"\xff\xfe\0\x09first \xe4") < data.find(b"\xff\xfe\0\x08second")
    blur(satin, "in.jpg", "out.jpg", "--strip")
    assert b"second" not in (satin.folder / "out.jpg").read_bytes()


def test_names_of_tiff_are_kept(satin):
    words = {269: "The document", 270: "The description", 285: "The page"}
    Image.fromarray(edges()).save(satin.folder / "in.tif", tiffinfo=words)
    blur(satin, "in.tif", "out.tif")
    tags = Image.open(satin.folder / "out.tif").tag_v2
    assert {tag: tags[tag] for tag in words} == words
    blur(satin, "in.tif", "out.jpg")
    assert exiftool(satin.folder / "out.jpg", "DocumentName", "PageName") == ["The document", "The page"]


def test_what_a_format_does_not_hold_is_named_in_one_warning(satin):
    write_png(satin.folder / "in.png", edges(), TEXTS + EXTRAS[:3] + [(b"gAMA", struct.pack(">I", 45455))])
    error = blur(satin, "in.png", "out.webp").error
    assert "WebP holds no resolution, PNG text, tIME, sBIT or gAMA." in error and error.count("\n") <= 2
    small(satin.folder, "jpg", comment=b"words")
    assert "PNG holds no JPEG comments." in blur(satin, "in.jpg", "out.png").error
    small(satin.folder, "jpg")
    assert blur(satin, "in.jpg", "out.webp").error == ""


# --- linear light


def linear_mean(satin, chunks, values, depth=np.uint8):
    """Returns the result of a blur over a whole row."""
    row = np.repeat(np.array(values, depth)[None, :, None], 3, axis=2)
    write_png(satin.folder / "in.png", row, chunks)
    satin.good("blur", "in.png", "-o", "out.png", "--radius", "40", "--overwrite")
    found = png_file.read(satin.folder / "out.png")
    assert (found == found[0, 0, 0]).all()
    return int(found[0, 0, 0])


def gama(value):
    return (b"gAMA", struct.pack(">I", value))


def srgb_inverse(mean):
    return 255 * (1.055 * mean ** (1 / 2.4) - 0.055)


SRGB = (b"sRGB", b"\0")
LINEAR, BT709 = (b"cICP", bytes([1, 8, 0, 1])), (b"cICP", bytes([1, 1, 0, 1]))
OF_SRGB = round(srgb_inverse(0.5))


def linear_profile():
    """The ICC profile of Pillow's sRGB with curves that are straight lines."""
    data = bytearray(profile())
    for i in range(int.from_bytes(data[128:132], "big")):
        name, at, size = struct.unpack_from(">4sII", data, 132 + 12 * i)
        if name in (b"rTRC", b"gTRC", b"bTRC"):
            data[at : at + 12] = b"curv\0\0\0\0\0\0\0\0"
            struct.pack_into(">I", data, 132 + 12 * i + 8, 12)
    return (b"iCCP", b"p\0\0" + zlib.compress(bytes(data)))


@pytest.mark.parametrize("chunks, wanted", [
    ([], OF_SRGB), ([gama(100000)], 128), ([gama(50000)], round(255 * 0.5 ** 0.5)), ([gama(45455)], 186),
    ([gama(100000), SRGB], OF_SRGB), ([LINEAR], 128), ([BT709], round(255 * (1.09929682680944 * 0.5**0.45 - 0.09929682680944))),
    ([(b"cICP", CICP_SRGB), gama(100000)], OF_SRGB), ([linear_profile()], 128), ([linear_profile(), LINEAR], 128),
    ([linear_profile(), (b"cICP", CICP_SRGB)], OF_SRGB), ([(b"cICP", bytes([1, 2, 0, 1])), gama(100000)], 128),
    ([(b"cICP", bytes([1, 4, 0, 1]))], 186), ([(b"cICP", bytes([1, 8, 0, 1])), SRGB], 128)], ids=str)
def test_linear_light_is_that_of_the_chunk_that_wins(satin, chunks, wanted):
    assert linear_mean(satin, chunks, [0, 255] * 8) == wanted


def test_every_code_survives_a_transfer(satin):
    ramp = np.tile(np.arange(0, 65536, 16, dtype=np.uint16)[None, :, None], (2, 1, 3))
    for chunk in (gama(45455), gama(20000), LINEAR, BT709):
        write_png(satin.folder / "in.png", ramp, [chunk])
        satin.good("blur", "in.png", "-o", "out.png", "--radius", "0", "--overwrite")
        np.testing.assert_array_equal(png_file.read(satin.folder / "out.png"), ramp)


@pytest.mark.parametrize("points, says", [((9, 16, 0, 1), "PQ"), ((9, 18, 0, 1), "HLG"), ((1, 13, 0, 0), "narrow range")])
def test_hdr_is_never_taken_for_srgb(satin, points, says):
    write_png(satin.folder / "in.png", edges(), [(b"cICP", bytes(points))])
    satin.bad(1, "blur", "in.png", "-o", "out.png", "--radius", "1", says=["in.png", says, "cICP", "sRGB"])
    assert not (satin.folder / "out.png").exists()


@pytest.mark.parametrize("chunk", [(b"cICP", bytes([1, 9, 0, 1])), gama(1000)], ids=["cICP", "gAMA"])
def test_a_transfer_that_is_not_read_is_told(satin, chunk):
    write_png(satin.folder / "in.png", edges(), [chunk])
    assert "linear light is that of sRGB" in blur(satin, "in.png", "out.png").error
    assert "linear light" not in blur(satin, "in.png", "out.png", "--space", "encoded").error


def test_floats_come_by_the_transfer(satin):
    write_png(satin.folder / "in.png", edges(), [gama(100000)])
    satin.good("blur", "in.png", "-o", "out.pfm", "--radius", "0")
    values = np.frombuffer((satin.folder / "out.pfm").read_bytes()[-24 * 32 * 12 :], "<f4").reshape(24, 32, 3)[::-1]
    np.testing.assert_allclose(values, edges() / 255, atol=1e-6)


# --- extended XMP and IPTC

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XMP_NAME, EXTENDED_NAME = b"http://ns.adobe.com/xap/1.0/\0", b"http://ns.adobe.com/xmp/extension/\0"
HISTORY = "<photoshop:History>%s</photoshop:History>" % ("a long story " * 12000)


def xmp(attributes="", elements=""):
    return ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="%s"><rdf:Description rdf:about="" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpNote="http://ns.adobe.com/xmp/note/" '
            'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" %s>%s</rdf:Description></rdf:RDF></x:xmpmeta>' %
            (RDF, attributes, elements)).encode()


def extended_segments(packet, guid, most=60000):
    return [EXTENDED_NAME + guid + struct.pack(">II", len(packet), at) + packet[at : at + most]
            for at in range(0, len(packet), most)]


def extended_jpeg(folder, order=(2, 0, 1), damage=False):
    small(folder, "jpg")
    packet = xmp(elements=HISTORY)
    guid = hashlib.md5(packet).hexdigest().upper().encode()
    parts = extended_segments(packet.replace(b"story", b"STORY", 1) if damage else packet, guid)
    assert len(parts) == 3
    for part in [parts[i] for i in order]:
        with_segment(folder / "in.jpg", 0xE1, part)
    standard = xmp('xmpNote:HasExtendedXMP="%s" photoshop:City="Here"' % guid.decode())
    with_segment(folder / "in.jpg", 0xE1, XMP_NAME + standard)


def test_extended_xmp_travels(satin):
    extended_jpeg(satin.folder)
    for source, target in (("in.jpg", "a.jpg"), ("in.jpg", "b.png"), ("b.png", "c.tif"), ("c.tif", "d.jpg")):
        assert blur(satin, source, target).error == ""
        assert exiftool(satin.folder / target, "City", "History") == ["Here", ("a long story " * 12000).strip()]
        warning, = exiftool(satin.folder / target, "Warning")
        assert warning == "-"
    assert b"photoshop:City" in (satin.folder / "d.jpg").read_bytes().split(EXTENDED_NAME)[0]
    blur(satin, "in.jpg", "a.jpg", "--strip")
    assert b"story" not in (satin.folder / "a.jpg").read_bytes()


def test_damaged_extended_xmp_is_left_out_with_a_warning(satin):
    for options in ({"damage": True}, {"order": (0, 1)}, {"order": (0, 1, 2, 2)}):
        extended_jpeg(satin.folder, **options)
        assert "extended XMP packet is damaged" in blur(satin, "in.jpg", "out.jpg").error
        data = (satin.folder / "out.jpg").read_bytes()
        assert b"story" not in data and b"HasExtendedXMP" not in data and b'photoshop:City="Here"' in data


def test_iptc_travels_through_png(satin):
    from PIL import IptcImagePlugin
    iptc_jpeg(satin.folder / "a.jpg")
    for source, target in (("a.jpg", "b.png"), ("b.png", "c.png"), ("c.png", "d.jpg")):
        assert "IPTC" not in blur(satin, source, target).error
        assert exiftool(satin.folder / target, "Caption-Abstract", "Keywords") == ["A caption", "one, two"]
    wanted = {(2, 120): b"A caption", (2, 25): [b"one", b"two"]}
    assert IptcImagePlugin.getiptcinfo(Image.open(satin.folder / "d.jpg")) == wanted
    blur(satin, "c.png", "e.png", "--strip")
    assert exiftool(satin.folder / "e.png", "Caption-Abstract") == ["-"]
    assert "WebP holds no IPTC." in blur(satin, "c.png", "f.webp").error
