"""--simd: every instruction set of this machine gives the same bytes."""
import json

import pytest

import png_file

FILTERS = [("blur", "--radius", "7.5"), ("erode", "--radius", "9"), ("guided",), ("threshold",), ("smooth",)]


def names(satin, *arguments):
    devices = json.loads(satin.good("devices", "--json", *arguments).stdout)["devices"]
    assert devices[0]["name"].startswith(devices[0]["simd"][0] + ",")
    return devices[0]["simd"]


def test_every_instruction_set_gives_the_same_bytes(satin, noise):
    png_file.write(satin.folder / "in.png", noise((37, 61, 3)))
    known = names(satin)
    assert len(set(known)) == len(known)
    if len(known) == 1:
        pytest.skip("this build has one instruction set")
    for i, name in enumerate(known):
        assert names(satin, "--simd", name) == known[i:]
        for line in FILTERS:
            satin.good(line[0], "in.png", "-o", "%s_%s.png" % (line[0], name), "--simd", name, *line[1:])
            made = [(satin.folder / ("%s_%s.png" % (line[0], each))).read_bytes() for each in (known[0], name)]
            assert made[0] == made[1]
    assert "SIMD: %s (in use)" % known[-1] in satin.good("devices", "--simd", known[-1]).stdout.decode()


@pytest.mark.parametrize("name", ["AVX9", "", "avx2,"])
def test_an_instruction_set_that_is_not_there(satin, picture, name):
    satin.bad(2, "blur", "in.png", "-o", "out.png", "--simd", name, says="no SIMD instruction set '%s'" % name)
