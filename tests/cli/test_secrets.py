"""satin redact: a secret in the metadata does not reach the output, wherever it is stored."""
import hashlib
import struct
import subprocess
import zlib

import numpy as np
import pytest

import exr_file
import png_file
from conftest import FULL_CODECS, files_below

Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="metadata needs the codecs of SATIN_CODECS=FULL")

SECRET = b"SECRET-OF-SOMEBODY"
XMP_NAME = b"http://ns.adobe.com/xap/1.0/\0"
EXTENDED_NAME = b"http://ns.adobe.com/xmp/extension/\0"
BOX = ("--box", "1,1,4,4")


def segment(marker, body):
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def packet(attributes="", elements=""):
    return ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<rdf:Description rdf:about="" %s>%s</rdf:Description></rdf:RDF></x:xmpmeta>' % (attributes, elements))


def exif(first=(), below=(), behind=b""):
    """A little-endian block: entries (tag, type, bytes) of its first directory and of the EXIF directory."""
    def directory(start, entries, following=0):
        values, at = b"", start + 2 + 12 * len(entries) + 4
        text = struct.pack("<H", len(entries))
        for tag, kind, value in sorted(entries):
            size = {2: 1, 3: 2, 4: 4, 7: 1}[kind]
            text += struct.pack("<HHI", tag, kind, len(value) // size)
            text += value.ljust(4, b"\0") if len(value) <= 4 else struct.pack("<I", at + len(values))
            values += value if len(value) > 4 else b""
        return text + struct.pack("<I", following) + values

    inner = directory(8, list(below))
    start = 8 + len(inner)
    outer = list(first) + [(0x8769, 4, struct.pack("<I", 8))]
    end = start + len(directory(start, outer))
    block = struct.pack("<2sHI", b"II", 42, start) + inner + directory(start, outer, end if behind else 0)
    return block + behind


def preview_directory(at):
    return struct.pack("<HHHIIHHIII", 2, 0x201, 4, 1, at + 30, 0x202, 4, 1, len(SECRET), 0) + SECRET


def jpeg(tmp_path, *segments, behind=b""):
    Image.fromarray(np.full((16, 16, 3), 90, np.uint8)).save(tmp_path / "in.jpg")
    data = (tmp_path / "in.jpg").read_bytes()
    (tmp_path / "in.jpg").write_bytes(data[:2] + b"".join(segments) + data[2:] + behind)
    assert SECRET in (tmp_path / "in.jpg").read_bytes() or SECRET.decode().encode("utf-16-le") in (
        tmp_path / "in.jpg").read_bytes()


def exif_segment(block):
    return segment(0xE1, b"Exif\0\0" + block)


def named_extension(packet_text, attributes=""):
    """Segments of an extended packet and of the packet that names it."""
    text = packet_text.encode()
    guid = hashlib.md5(text).hexdigest().upper()
    note = 'xmlns:n="http://ns.adobe.com/xmp/note/" n:HasExtendedXMP="%s" ' % guid
    return [segment(0xE1, EXTENDED_NAME + guid.encode() + struct.pack(">II", len(text), 0) + text),
            segment(0xE1, XMP_NAME + packet(note + attributes).encode())]


GIMAGE = 'xmlns:g="http://ns.google.com/photos/1.0/image/"'
THUMB = 'xmlns:t="http://ns.adobe.com/xap/1.0/g/img/"'
TEXT = SECRET.decode()
JPEG_START = b"\xff\xd8\xff\xe0"
PLACES = {
    "xmp of an editor": [segment(0xE1, XMP_NAME + packet('xmlns:dc="urn:dc" dc:title="%s"' % TEXT).encode())],
    "xmp GImage": [segment(0xE1, XMP_NAME + packet(GIMAGE + ' g:Data="%s"' % TEXT).encode())],
    "xmp thumbnail in utf-16": [segment(0xE1, XMP_NAME + packet(THUMB, "<t:image>%s</t:image>" % TEXT).encode("utf-16"))],
    "extended xmp that nothing names": [segment(0xE1, EXTENDED_NAME + b"0" * 32 + struct.pack(">II", len(SECRET), 0) + SECRET)],
    "extended xmp that is named": named_extension(packet('xmlns:dc="urn:dc" dc:title="%s"' % TEXT)),
    "thumbnail of jfif": [segment(0xE0, b"JFIF\0\1\2\0\0\1\0\1\3\2" + SECRET),
                          segment(0xE0, b"JFXX\0\x10" + SECRET)],
    "multi-picture index": [segment(0xE2, b"MPF\0" + SECRET)],
    "iptc": [segment(0xED, b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + struct.pack(">I", 5 + len(SECRET)) +
                     b"\x1c\x02\x78" + struct.pack(">H", len(SECRET)) + SECRET)],
    "comment": [segment(0xFE, SECRET)],
    "private application segment": [segment(0xEB, SECRET)],
    "description": [exif_segment(exif([(0x010E, 2, SECRET + b"\0")]))],
    "document name": [exif_segment(exif([(0x010D, 2, SECRET + b"\0")]))],
    "page name": [exif_segment(exif([(0x011D, 2, SECRET + b"\0")]))],
    "artist": [exif_segment(exif([(0x013B, 2, SECRET + b"\0")]))],
    "maker note": [exif_segment(exif(below=[(0x927C, 7, SECRET)]))],
    "user comment": [exif_segment(exif(below=[(0x9286, 7, b"ASCII\0\0\0" + SECRET)]))],
    "private tag": [exif_segment(exif([(0xC6D2, 7, SECRET)]))],
    "behind the end of a text": [exif_segment(exif([(0x010F, 2, b"Maker\0" + SECRET + b"\0")]))],
    "behind the block": [exif_segment(exif() + SECRET)],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["out.jpg", "out.png", "out.tif", "out.webp"])
def test_no_secret_of_a_jpeg_comes_out(satin, tmp_path, place, name):
    jpeg(tmp_path, *PLACES[place])
    satin.good("redact", "in.jpg", "-o", name, *BOX)
    data = (tmp_path / name).read_bytes()
    assert SECRET not in data and TEXT.encode("utf-16-le") not in data


def test_previews_in_every_directory(satin, tmp_path):
    at = len(exif([(0x014A, 4, b"\0\0\0\0")], behind=b"-")) - 1
    second = preview_directory(at)
    block = exif([(0x014A, 4, struct.pack("<I", at + len(second)))], behind=second + preview_directory(at + len(second)))
    jpeg(tmp_path, exif_segment(block))
    for command in (["redact", *BOX], ["blur", "--radius", "2"]):
        satin.good(*command[:1], "in.jpg", "-o", "out.jpg", *command[1:], "--overwrite")
        assert SECRET not in (tmp_path / "out.jpg").read_bytes(), command


def test_pictures_behind_the_picture(satin, tmp_path):
    jpeg(tmp_path, behind=JPEG_START + SECRET)
    for command in (["redact", *BOX], ["blur", "--radius", "2"]):
        satin.good(*command[:1], "in.jpg", "-o", "out.jpg", *command[1:], "--overwrite")
        assert SECRET not in (tmp_path / "out.jpg").read_bytes(), command


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_other_filters_drop_pictures_of_a_packet_alone(satin, tmp_path, encoding):
    text = packet(GIMAGE + ' xmlns:dc="urn:dc" dc:title="Title" g:Data="%s"' % TEXT)
    jpeg(tmp_path, segment(0xE1, XMP_NAME + text.encode(encoding)), segment(0xFE, SECRET))
    satin.good("blur", "in.jpg", "-o", "out.png", "--radius", "2")
    data = (tmp_path / "out.png").read_bytes()
    assert SECRET not in data and b'dc:title="Title"' in data


def test_other_filters_drop_pictures_of_an_extended_packet_alone(satin, tmp_path):
    text = packet(GIMAGE + ' xmlns:dc="urn:dc" dc:title="Title" g:Data="%s"' % TEXT)
    jpeg(tmp_path, *named_extension(text))
    for name in ("out.jpg", "out.png"):
        satin.good("blur", "in.jpg", "-o", name, "--radius", "2")
        data = (tmp_path / name).read_bytes()
        assert SECRET not in data and b'dc:title="Title"' in data


def test_a_damaged_packet_is_left_out_with_a_warning(satin, tmp_path):
    jpeg(tmp_path, segment(0xE1, XMP_NAME + packet(elements="<open>" + TEXT).encode()))
    assert "XMP packet is damaged" in satin.good("blur", "in.jpg", "-o", "out.jpg", "--radius", "2").error
    assert SECRET not in (tmp_path / "out.jpg").read_bytes()


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@pytest.mark.parametrize("chunk", [
    (b"tEXt", b"Comment\0" + SECRET), (b"zTXt", b"Comment\0\0" + zlib.compress(SECRET)),
    (b"iTXt", b"Comment\0\0\0\0\0" + SECRET), (b"tIME", SECRET), (b"sBIT", SECRET), (b"pHYs", SECRET), (b"cICP", SECRET),
    (b"eXIf", exif([(0x010E, 2, SECRET + b"\0")])), (b"prVt", SECRET)])
def test_no_secret_of_a_png_comes_out(satin, tmp_path, picture, chunk):
    data = picture.read_bytes()
    picture.write_bytes(data[:33] + png_chunk(*chunk) + data[33:])
    satin.good("redact", "in.png", "-o", "out.png", *BOX)
    written = (tmp_path / "out.png").read_bytes()
    assert SECRET not in written and zlib.compress(SECRET) not in written and b"Comment" not in written


def raw_profile(name, data):
    text = "\n%s\n%8d\n%s\n" % (name, len(data), data.hex())
    return png_chunk(b"zTXt", b"Raw profile type " + name.encode() + b"\0\0" + zlib.compress(text.encode()))


def test_blocks_in_texts_of_png(satin, tmp_path, picture):
    iptc = b"8BIM\x04\x04\0\0" + struct.pack(">I", 5 + len(SECRET)) + b"\x1c\x02\x78\0" + bytes([len(SECRET)]) + SECRET
    data = picture.read_bytes()
    chunks = raw_profile("iptc", iptc) + raw_profile("exif", b"Exif\0\0" + exif([(0x010E, 2, SECRET + b"\0")]))
    picture.write_bytes(data[:33] + chunks + data[33:])
    satin.good("redact", "in.png", "-o", "out.tif", *BOX)
    satin.good("redact", "in.png", "-o", "out.png", *BOX)
    assert SECRET not in (tmp_path / "out.tif").read_bytes()
    assert b"Raw profile" not in (tmp_path / "out.png").read_bytes()
    satin.good("blur", "in.png", "-o", "blur.png", "--radius", "2")
    assert b"Raw profile type exif" not in (tmp_path / "blur.png").read_bytes()
    satin.good("blur", "in.png", "-o", "blur.tif", "--radius", "2")
    assert (tmp_path / "blur.tif").read_bytes().count(SECRET) == 1  # IPTC travels


@pytest.mark.parametrize("name", ["out.jpg", "out.png", "out.tif", "out.webp"])
def test_no_secret_of_a_tiff_comes_out(satin, tmp_path, name):
    words = {tag: TEXT for tag in (269, 270, 285, 315, 33723)}
    Image.fromarray(np.full((16, 16, 3), 90, np.uint8)).save(tmp_path / "in.tif", tiffinfo=words)
    assert (tmp_path / "in.tif").read_bytes().count(SECRET) == len(words)
    satin.good("redact", "in.tif", "-o", name, *BOX)
    assert SECRET not in (tmp_path / name).read_bytes()


def test_camera_exposure_and_copyright_stay(satin, tmp_path):
    kept = [(0x010F, b"Maker"), (0x0110, b"Model"), (0x0132, b"2026:01:02 03:04:05"), (0x8298, b"(c) Photographer")]
    block = exif([(tag, 2, text + b"\0") for tag, text in kept] + [(0x010E, 2, SECRET + b"\0")],
                 [(0x8827, 3, struct.pack("<H", 400)), (0xA434, 2, b"50 mm lens\0")])
    jpeg(tmp_path, exif_segment(block))
    satin.good("redact", "in.jpg", "-o", "out.jpg", *BOX)
    with Image.open(tmp_path / "out.jpg") as image:
        found = image.getexif()
        assert [found[tag].encode() for tag, _ in kept] == [text for _, text in kept]
        assert found.get_ifd(0x8769) == {0x8827: 400, 0xA434: "50 mm lens"}


def test_keep_metadata_is_the_users_own_word(satin, tmp_path):
    jpeg(tmp_path, *PLACES["xmp of an editor"], *PLACES["description"])
    result = satin.good("redact", "in.jpg", "-o", "out.jpg", *BOX, "--keep-metadata")
    assert "EXIF, XMP of the file stay" in result.error
    assert (tmp_path / "out.jpg").read_bytes().count(SECRET) == 2
    jpeg(tmp_path, *PLACES["comment"])
    result = satin.good("redact", "in.jpg", "-o", "out.jpg", *BOX, "--keep-metadata", "--overwrite")
    assert "JPEG comments of the file stay" in result.error and SECRET in (tmp_path / "out.jpg").read_bytes()
    jpeg(tmp_path, *PLACES["xmp of an editor"], *PLACES["description"], *PLACES["comment"])
    satin.good("run", "redact box=1,1,4,4 | blur radius=1", "in.jpg", "-o", "two.jpg")
    assert SECRET not in (tmp_path / "two.jpg").read_bytes()
    satin.bad(2, "blur", "in.jpg", "-o", "x.jpg", "--keep-metadata", says="--keep-metadata")


def test_channels_beside_the_colours(satin, tmp_path):
    plane = np.random.default_rng(1).random((8, 9))
    exr_file.write(tmp_path / "in.exr", {name: plane for name in ("R", "G", "B", "diff.R", "id")})
    satin.bad(1, "redact", "in.exr", "-o", "out.exr", *BOX, says=["in.exr", "diff.R", "--strip"])
    assert "out.exr" not in files_below(tmp_path)
    satin.good("redact", "in.exr", "-o", "out.exr", *BOX, "--strip")
    assert b"diff.R" not in (tmp_path / "out.exr").read_bytes()


def test_a_gallery_shows_no_picture_as_it_was(satin, tmp_path, picture):
    satin.good("redact", "in.png", "-o", "out.png", *BOX, "--gallery", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "-after" in page and "-before" not in page and 'href="in.png"' not in page
    assert not [name for name in files_below(tmp_path / "page_files") if "before" in name]


@pytest.mark.parametrize("name", ["out.jpg", "out.png", "out.tif"])
def test_exiftool_finds_nothing_wrong(satin, tmp_path, name):
    jpeg(tmp_path, exif_segment(exif([(0x010F, 2, b"Maker\0"), (0x010E, 2, SECRET + b"\0")],
                                     [(0x8827, 3, struct.pack("<H", 400))])))
    satin.good("redact", "in.jpg", "-o", name, *BOX)
    try:
        told = subprocess.run(["exiftool", "-validate", "-a", "-G1", "-Make", tmp_path / name], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("exiftool is not installed")
    assert "Maker" in told.stdout and "Error" not in told.stdout, told.stdout
