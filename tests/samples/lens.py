"""The lens study on coarse renders: what must hold of its table whatever the noise."""

import os
import re
import subprocess

LENS = os.environ["SATIN_LENS"]


def table(*arguments):
    """PSNR of every row and kind of scene."""
    text = subprocess.run([LENS, *arguments], check=True, capture_output=True, text=True).stdout
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    kinds = lines[0][1:]
    numbers = [[float(re.match(r"-?[0-9.]+", cell).group()) for cell in line[1:]] for line in lines[2:]]
    return {line[0]: dict(zip(kinds, row)) for line, row in zip(lines[2:], numbers)}


def check(holds, what):
    if not holds:
        raise SystemExit("lens: " + what)


rows = table("--seeds", "1", "--samples", "32", "--kinds", "near,bars", "--noise")
for kind in ("near", "bars"):
    pinhole, box, disc = (rows[name][kind] for name in ("pinhole", "box gather", "one-layer disc"))
    check(pinhole < box < disc, f"{kind}: expected pinhole {pinhole} < box gather {box} < one-layer disc {disc}")
    noise = rows["noise of the truth"][kind]
    check(noise > pinhole + 10, f"{kind}: the noise of the lens is {noise} dB, the pinhole's error {pinhole}")

again = table("--seeds", "1", "--samples", "32", "--kinds", "near", "--methods", "one-layer disc")
check(again["one-layer disc"]["near"] == rows["one-layer disc"]["near"], "a second run gave other numbers")

eroded = table("--seeds", "1", "--samples", "32", "--kinds", "near", "--damages", "eroded", "--methods", "one-layer disc")
check(eroded["one-layer disc"]["near"] < rows["one-layer disc"]["near"] - 0.3, "eroded disparity did not cost anything")
