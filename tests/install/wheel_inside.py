"""Run in a bare Debian where the wheel is installed: imports, filters, and reads and writes every format that it promises."""

import pathlib
import re
import tempfile

import numpy

import satin

image = numpy.random.default_rng(7).integers(0, 256, (61, 83, 3), numpy.uint8)
soft = satin.blur(image, radius=4)
assert soft.shape == image.shape and soft.std() < image.std()

folder = pathlib.Path(tempfile.mkdtemp())
for name in ("a.png", "a.tif", "a.bmp", "a.tga", "a.ppm", "a.npy"):
    satin.write(folder / name, soft)
    assert (satin.read(folder / name) == soft).all(), name
satin.write(folder / "a.jpg", soft)
assert abs(satin.read(folder / "a.jpg").astype(int) - soft).mean() < 6
for name in ("f.exr", "f.tif", "f.hdr", "f.pfm"):
    light = soft.astype(numpy.float32) / 255
    satin.write(folder / name, light)
    assert abs(satin.read(folder / name) - light).max() < 0.01, name
result = satin.batch("blur radius=2 | unsharp amount=0.5", folder / "a.png", f"{folder}/out/")
assert result.exit_code == 0 and (folder / "out/a.png").exists()

reads = {each["name"] for each in satin.formats() if each["reads"]}
assert {"PNG", "JPEG", "TIFF", "OpenEXR"} <= reads and not reads & {"HEIC", "AVIF", "WebP", "JPEG 2000"}, reads
(folder / "a.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
for wrong, words in ((lambda: satin.read(folder / "a.heic"), "libheif"), (lambda: satin.Device("cuda:0"), "CUDA")):
    try:
        wrong()
    except (ValueError, RuntimeError, OSError) as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)

# Beside the two wheels only the C and C++ runtimes, what every manylinux system has, and libraries of Python's own modules are loaded.
loaded = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
others = {pathlib.Path(path).name.split(".so")[0].split("-")[0] for path in loaded if not re.search("/(site-packages|lib-dynload)/", path)}
runtimes = {"ld", "libc", "libm", "libmvec", "libdl", "libpthread", "librt", "libutil", "libstdc++", "libgcc_s", "libz", "libexpat"}
of_python = {"libpython3.11", "libcrypto", "libssl", "libffi", "libbz2", "liblzma", "libuuid"}
assert others <= runtimes | of_python, others - runtimes - of_python
print(f"satin {satin.__version__}: {len(loaded)} libraries are loaded, of the system's {', '.join(sorted(others))}")
