"""What other programs say of the files that Satin writes."""
import collections
import re
import shutil
import struct
import subprocess

import pytest

from conftest import FULL_CODECS
from test_metadata import FORMATS, save

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="metadata needs the codecs of SATIN_CODECS=FULL")
ONCE = [b"IHDR", b"PLTE", b"IEND", b"cHRM", b"gAMA", b"iCCP", b"sRGB", b"eXIf", b"pHYs", b"tIME"]  # PNG, 5.6
# What the inputs of Pillow lack, and what TIFF 6.0 has only in its extensions: compression by Deflate.
OF_THE_SOURCE = re.compile(r"Missing required|Improperly enclosed XMP|\[minor\]|tag 0x0103 Compression")


def chunks_of(data):
    at, names = 8, []
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        names.append(name)
        at += 12 + size
    return names


@pytest.mark.parametrize("form", FORMATS)
def test_chunks_of_png_occur_as_often_as_they_may(satin, tmp_path, form):
    save(tmp_path / ("in." + form), form)
    satin.good("blur", "in." + form, "-o", "out.png")
    count = collections.Counter(chunks_of((tmp_path / "out.png").read_bytes()))
    assert count[b"eXIf"] == 1 and count[b"iCCP"] == 1
    assert [name for name in ONCE if count[name] > 1] == []


@pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is missing (Debian: libimage-exiftool-perl)")
@pytest.mark.parametrize("source", FORMATS)
def test_exiftool_finds_nothing_to_object_to(satin, tmp_path, source):
    save(tmp_path / ("in." + source), source)
    outputs = ["%s.%s" % (name, form) for form in FORMATS + ["exr"] for name in ("blur", "redact")]
    for output in outputs:
        name, box = output.split(".")[0], ["--box", "1,1,9,9"]
        satin.good(name, "in." + source, "-o", output, *(box if name == "redact" else []))
    command = ["exiftool", "-validate", "-warning", "-error", "-a", "-q", "-q", *outputs]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, text=True)
    assert told.stdout.count("Validate") == len(outputs) and told.stderr == ""
    lines = [line for line in told.stdout.splitlines() if line.startswith(("Warning", "Error"))]
    assert [line for line in lines if not OF_THE_SOURCE.search(line)] == []
