#!/usr/bin/env python3
"""Measures the lens study and writes its tables into README.md beside this file.

    samples/lens/tables.py STUDY [CACHE]

STUDY is satin_lens_study of a build with tests (or satin_lens, without the row of the true hidden layers). Renders are
kept in CACHE, so that an interrupted run goes on where it was. SATIN_LENS_SEEDS=2 takes fewer seeds than eight.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "README.md"
SEEDS = int(os.environ.get("SATIN_LENS_SEEDS", "8"))
FIRST_SEED = 101
RAYS = 512  # in each of two samplings: their noise is then 10 dB above every row
DAMAGES = "eroded", "dilated", "blurred 3", "blurred 5", "noisy", "shifted", "half size", "8 bits", "holes"
PEERS = "box gather", "one-layer disc"
OURS = "dof fast", "dof high"
TRUE_HIDDEN = "dof high, true hidden layers"
NOISE = "noise of the truth"
# What `dof high` has to be better than the box gather by, in dB.
GATES = {"near": 7, "floor": 5, "layers": 6, "lights": 3}


class Table:
    def __init__(self, text):
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
        self.kinds = lines[0][1:]
        self.cells = {line[0]: dict(zip(self.kinds, line[1:])) for line in lines[2:]}

    def psnr(self, method, kind):
        return float(re.match(r"-?[0-9.]+", self.cells[method][kind]).group())


def measure(study, cache, *arguments):
    command = [study, "--first-seed", str(FIRST_SEED), "--seeds", str(SEEDS), "--samples", str(RAYS), *arguments]
    if cache:
        command += ["--cache", cache]
    return Table(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def markdown(heads, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows])


def exact_part(table):
    rows = [[name, *cells.values()] for name, cells in table.cells.items()]
    kinds = [kind for kind in table.kinds if kind != "mean"]
    differences = []
    for name, method, other in (("`dof high` over the box gather", "dof high", "box gather"),
                                ("`dof high` over the one-layer disc", "dof high", "one-layer disc"),
                                ("`dof high` over `dof fast`", "dof high", "dof fast")):
        differences.append([name] + ["%+.2f" % (table.psnr(method, kind) - table.psnr(other, kind)) for kind in table.kinds])
    quoted = [name for name in (*PEERS, *OURS, TRUE_HIDDEN) if name in table.cells]
    margins = ["%.1f" % (table.psnr(NOISE, kind) - max(table.psnr(name, kind) for name in quoted)) for kind in kinds]
    differences.append(["the noise of the truth over the best row", *margins, ""])
    missed = ["%s %+.2f of %+d" % (kind, table.psnr("dof high", kind) - table.psnr("box gather", kind), least)
              for kind, least in GATES.items() if table.psnr("dof high", kind) - table.psnr("box gather", kind) < least]
    gates = "Gates over the box gather (near 7, floor 5, layers 6, lights 3 dB): " + (
        "missed by " + ", ".join(missed) if missed else "all met") + "."
    return "\n".join([
        "Seeds %d to %d." % (FIRST_SEED, FIRST_SEED + SEEDS - 1), "", markdown(["method", *table.kinds], rows), "",
        "Differences of PSNR in dB:", "", markdown(["", *table.kinds], differences), "", gates])


def damaged_part(tables):
    rows = []
    for damage, table in tables.items():
        for name in table.cells:
            rows.append([damage, name, *("%.2f" % table.psnr(name, kind) for kind in table.kinds)])
    return markdown(["disparity", "method", *next(iter(tables.values())).kinds], rows)


def replace(page, name, text):
    begin, end = "<!-- %s -->" % name, "<!-- /%s -->" % name
    before, rest = page.split(begin)
    return before + begin + "\n" + text + "\n" + end + rest.split(end)[1]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    study, cache = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else ""
    exact = measure(study, cache, "--noise")
    methods = ",".join((*PEERS, *OURS))
    damaged = {damage: measure(study, cache, "--damages", damage, "--methods", methods) for damage in DAMAGES}
    page = replace(PAGE.read_text(), "exact", exact_part(exact))
    PAGE.write_text(replace(page, "damaged", damaged_part(damaged)))


main()
