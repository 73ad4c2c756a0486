"""Other programs accept the files that Satin writes."""
import collections
import hashlib
import re
import shutil
import struct
import subprocess
import zlib

import pytest

import png_file
from conftest import FULL_CODECS
from test_carried import EXTRAS, EXTENDED_NAME, TEXTS, XMP_NAME, extended_segments, with_segment, xmp
from test_metadata import FORMATS, iptc_segment, iptc_sets, save

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="metadata needs the codecs of SATIN_CODECS=FULL")
ONCE = [b"IHDR", b"PLTE", b"IEND", b"cHRM", b"gAMA", b"iCCP", b"sRGB", b"eXIf", b"pHYs", b"tIME", b"cICP", b"sBIT"]  # PNG, 5.6
# Omissions of the inputs that Pillow writes, and compression by Deflate, which TIFF 6.0 has only in its extensions.
OF_THE_SOURCE = re.compile(r"Missing required|Improperly enclosed XMP|\[minor\]|tag 0x0103 Compression")


def save_with_all(path, form):
    """The file has every kind of block that Satin carries in the format."""
    save(path, form, {269: "Document", 270: "Description", 285: "Page", 282: 300, 283: 300, 296: 2, 33723: iptc_sets()})
    data = path.read_bytes()
    if form == "png":
        chunks = b"".join(png_file._chunk(*chunk) for chunk in TEXTS + EXTRAS)
        path.write_bytes(data[:33] + chunks + data[33:])
    if form == "jpg":
        packet = xmp(elements="<photoshop:History>%s</photoshop:History>" % ("a long story " * 9000))
        guid = hashlib.md5(packet).hexdigest().upper().encode()
        at = data.index(b"http://ns.adobe.com/xap/1.0/")
        size = int.from_bytes(data[at - 2 : at], "big")
        path.write_bytes(data[: at - 4] + data[at - 2 + size :])
        for part in extended_segments(packet, guid):
            with_segment(path, 0xE1, part)
        standard = xmp('xmpNote:HasExtendedXMP="%s" photoshop:City="Here"' % guid.decode())
        with_segment(path, 0xE1, XMP_NAME + standard)
        with_segment(path, 0xFE, b"A comment")
        data = path.read_bytes()
        path.write_bytes(data[:2] + iptc_segment() + data[2:])


def png_names(data):
    assert data[:8] == png_file.SIGNATURE
    at, names = 8, []
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        assert zlib.crc32(data[at + 4 : at + 8 + size]) == int.from_bytes(data[at + 8 + size : at + 12 + size], "big")
        names.append(name)
        at += 12 + size
    return names


@pytest.mark.parametrize("form", FORMATS)
def test_chunks_of_png_occur_as_often_as_they_may(satin, tmp_path, form):
    save_with_all(tmp_path / ("in." + form), form)
    satin.good("blur", "in." + form, "-o", "out.png")
    names = png_names((tmp_path / "out.png").read_bytes())
    count = collections.Counter(names)
    assert count[b"eXIf"] == 1 and count[b"iCCP"] == 1 and names[0] == b"IHDR" and names[-1] == b"IEND"
    assert [name for name in ONCE if count[name] > 1] == []
    pixels = names.index(b"IDAT")
    assert not {b"cICP", b"iCCP", b"sBIT", b"pHYs", b"eXIf"} & set(names[pixels:])
    wanted = {"png": {b"cICP", b"sBIT", b"tIME", b"pHYs", b"tEXt", b"zTXt", b"iTXt"}, "tif": {b"pHYs", b"zTXt", b"iTXt"},
              "jpg": {b"zTXt", b"iTXt"}, "webp": {b"iTXt"}}
    assert wanted[form] <= set(names)


def jpeg_segments(data):
    assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"
    at, segments = 2, []
    while data[at + 1] != 0xDA:
        marker, size = struct.unpack_from(">HH", data, at)
        segments.append((marker & 255, data[at + 4 : at + 2 + size]))
        at += 2 + size
    return segments


@pytest.mark.parametrize("form", FORMATS)
def test_segments_of_jpeg_occur_as_often_as_they_may(satin, tmp_path, form):
    save_with_all(tmp_path / ("in." + form), form)
    satin.good("blur", "in." + form, "-o", "out.jpg")
    segments = jpeg_segments((tmp_path / "out.jpg").read_bytes())
    kinds = collections.Counter((marker, body.split(b"\0")[0]) for marker, body in segments if marker not in (0xDB, 0xC4))
    extended = kinds.pop((0xE1, EXTENDED_NAME[:-1]), 0)
    assert extended == (2 if form == "jpg" else 0) and set(kinds.values()) == {1}
    assert segments[0][0] == 0xE0 and kinds[(0xE1, b"Exif")] == 1 and kinds[(0xE2, b"ICC_PROFILE")] == 1
    assert (kinds[(0xFE, b"A comment")], kinds[(0xED, b"Photoshop 3.0")]) == {"jpg": (1, 1), "tif": (0, 1)}.get(form, (0, 0))
    assert len(segments[0][1]) == 14  # JFIF without a thumbnail


@pytest.mark.parametrize("form", FORMATS)
def test_tags_of_tiff_are_sorted_and_single(satin, tmp_path, form):
    save_with_all(tmp_path / ("in." + form), form)
    satin.good("blur", "in." + form, "-o", "out.tif")
    data = (tmp_path / "out.tif").read_bytes()
    start, = struct.unpack_from("<I", data, 4)
    count, = struct.unpack_from("<H", data, start)
    entries = [struct.unpack_from("<HHII", data, start + 2 + 12 * i) for i in range(count)]
    tags = [tag for tag, *_ in entries]
    assert data[:4] == b"II*\0" and start % 2 == 0 and tags == sorted(set(tags))
    assert struct.unpack_from("<I", data, start + 2 + 12 * count) == (0,)
    sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 12: 8}
    assert all(value + n * sizes[kind] <= len(data) for _, kind, n, value in entries if n * sizes[kind] > 4)
    wanted = {"tif": {269, 270, 285, 282, 283, 296, 33723}, "png": {282, 283, 296}, "jpg": {33723}, "webp": set()}
    assert {700, 34665, 34675} | wanted[form] <= set(tags)


@pytest.mark.parametrize("form", FORMATS)
def test_chunks_of_webp_occur_once_and_its_flags_tell_them(satin, tmp_path, form):
    save_with_all(tmp_path / ("in." + form), form)
    satin.good("blur", "in." + form, "-o", "out.webp")
    data = (tmp_path / "out.webp").read_bytes()
    assert struct.unpack_from("<4sI4s", data) == (b"RIFF", len(data) - 8, b"WEBP")
    at, names = 12, []
    while at < len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        names.append(name)
        at += 8 + size + size % 2
    assert names[:2] == [b"VP8X", b"ICCP"] and names[-2:] == [b"EXIF", b"XMP "] and len(set(names)) == len(names)
    assert data[20] == 0x20 | 0x08 | 0x04


@pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is missing (Debian: libimage-exiftool-perl)")
@pytest.mark.parametrize("source", FORMATS)
def test_exiftool_finds_nothing_to_object_to(satin, tmp_path, source):
    save_with_all(tmp_path / ("in." + source), source)
    outputs = ["%s.%s" % (name, form) for form in FORMATS + ["exr"] for name in ("blur", "redact")]
    for output in outputs:
        name, box = output.split(".")[0], ["--box", "1,1,9,9"]
        satin.good(name, "in." + source, "-o", output, *(box if name == "redact" else []))
    command = ["exiftool", "-validate", "-warning", "-error", "-a", "-q", "-q", *outputs]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, text=True)
    assert told.stdout.count("Validate") == len(outputs) and told.stderr == ""
    lines = [line for line in told.stdout.splitlines() if line.startswith(("Warning", "Error"))]
    assert [line for line in lines if not OF_THE_SOURCE.search(line)] == []
