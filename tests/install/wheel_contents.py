"""wheel_contents.py WHEEL: lists every shared library inside with its licence, and fails where the wheel may not be passed on.

The rule. A licence is refused if it would reach the programs that import Satin: the GPL and the AGPL, unless the licensor lets
one choose another licence ("BSD or GPL") or makes an exception for linking. The LGPL passes, because these libraries lie in the
wheel as files of their own that can be exchanged. What has no text in the wheel, or a text in which no licence is found, fails.
So does a wheel above 40 MB, one with a module that is to stay out, and one without what it promises.
"""

import fnmatch
import re
import sys
import zipfile

MOST_BYTES = 40 * 10**6
OUTSIDE = ("heif", "opencv", "view")
PROMISED = ("png", "jpeg", "tiff", "OpenEXR", "lcms2", "tbb")
# A source file of each library whose package holds things under other licences, too.
A_SOURCE = {
    "libjpeg": ["jdapistd.c", "jcapistd.c", "simd/x86_64/jsimd.c", "simd/x86_64/jidctint-avx2.asm"],
    "liblzma": ["src/liblzma/common/common.c"],
    "libOpenEXR": ["src/lib/OpenEXR/ImfHeader.cpp"],
    "libzstd": ["lib/compress/zstd_compress.c", "lib/dictBuilder/divsufsort.c"],
}


def licences(text, sources):
    """The licences of files in a text of Debian's, by the last stanza that matches each; of a whole text that has no stanzas."""
    found = set()
    stanzas = []
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^([A-Z][\w-]*):\s*((?:.|\n[ \t])*)", paragraph, re.MULTILINE))
        if "Files" in fields and "License" in fields:
            stanzas.append((fields["Files"].split(), fields["License"].split("\n")[0].strip()))
    for source in sources:
        matching = [licence for patterns, licence in stanzas if any(fnmatch.fnmatch(source, each) for each in patterns)]
        found.update(matching[-1:] or ["none found"])
    if not stanzas:
        found = {name for name, words in TEXTS if words in " ".join(text.split())} or {"none found"}
    return found


TEXTS = [
    ("GPL", "General Public License"),
    ("BSD", "Redistributions in binary form must reproduce the above copyright notice"),
    ("MIT", "Permission is hereby granted, free of charge"),
]


def is_refused(licence):
    """Whether each licence that one may choose is one that reaches the program."""
    choices = re.split(r"\s+or\s+|\s*\|\s*", licence, flags=re.IGNORECASE)
    return licence == "none found" or all(re.search(r"(^|\W)A?GPL", each) and "exception" not in each.lower() for each in choices)


def problems(wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = {info.filename: info.file_size for info in archive.infolist()}
        texts = {name.split("/")[-1][:-4]: archive.read(name).decode() for name in files if re.search(r"dist-info/licenses/.*\.txt$", name)}
        size = sum(info.compress_size for info in archive.infolist())
    libraries = {re.sub(r"(-[0-9a-f]{8})?\.so.*", "", name.split("/")[-1]): name for name in files if ".libs/" in name and ".so" in name}
    print(f"{wheel}: {size / 1e6:.1f} MB, {sum(files.values()) / 1e6:.1f} MB when installed")
    for name in sorted(set(libraries) | set(texts)):
        of = licences(texts[name], A_SOURCE.get(name.split("-")[0], ["src/" + name])) if name in texts else {"none found"}
        place = f"{files[libraries[name]] / 1e6:6.2f} MB" if name in libraries else "compiled in"
        print(f"  {name:24} {place:12} {', '.join(sorted(of))}")
        yield from (f"{name} is under {licence}, which a wheel may not hold" for licence in of if is_refused(licence))
    modules = [name for name in files if re.search(r"satin/.*\.so$", name)]
    print("  " + ", ".join(sorted(modules)))
    yield from (f"{name} is to stay out" for name in [*modules, *libraries] for word in OUTSIDE if word in name)
    yield from (f"there is no {word} inside" for word in PROMISED if not any(word in name for name in libraries))
    if "satin/satin_io_exr.so" not in modules:
        yield "the module for OpenEXR is missing"
    if size > MOST_BYTES:
        yield f"it has {size} bytes, more than {MOST_BYTES}"


def check_rule():
    for good in ("BSD-3-clause or GPL-2", "LGPL-2.1+", "GPL-3 with GCC exception", "libpng"):
        assert not is_refused(good), good
    for bad in ("GPL-2+", "AGPL-3", "GPL-2 or GPL-3", "none found"):
        assert is_refused(bad), bad
    assert licences("Files: *\nLicense: GPL-2+\n text\n\nFiles: lib/*\nLicense: MIT\n", ["lib/a.c", "b.c"]) == {"GPL-2+", "MIT"}


check_rule()
found = list(problems(sys.argv[1]))
print("\n".join(found) or "It may be passed on.")
sys.exit(1 if found else 0)
