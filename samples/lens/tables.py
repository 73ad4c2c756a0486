#!/usr/bin/env python3
"""Measures the lens study and writes its tables into README.md beside this file.

    samples/lens/tables.py STUDY [CACHE [PART...]]

STUDY is satin_lens_study of a build with tests (or satin_lens, without the row of the true hidden layers). Renders are
kept in CACHE, so that an interrupted run goes on where it was. Parts are exact, hard, highlights and damaged; all of
them unless told. SATIN_LENS_SEEDS=2 takes fewer seeds than eight, SATIN_LENS_RAYS=64 fewer rays than 512.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "README.md"
SEEDS = int(os.environ.get("SATIN_LENS_SEEDS", "8"))
FIRST_SEED = 101
RAYS = int(os.environ.get("SATIN_LENS_RAYS", "512"))  # in each of two samplings, and eight times as many for lamps
PLAIN = "near", "fence", "lights", "clipped", "floor", "bars", "layers", "black"
HARD = "foliage", "lamps", "lamps clipped", "wires", "wires clipped", "page", "phone"
CLIPPED = "clipped", "lamps clipped", "wires clipped"
HIGHLIGHTS = 1, 2, 4, 8
DAMAGES = "eroded", "dilated", "blurred 3", "blurred 5", "noisy", "shifted", "half size", "8 bits", "holes"
PEERS = "box gather", "one-layer disc"
OURS = "dof fast", "dof high"
TRUE_HIDDEN = "dof high, true hidden layers"
NOISE = "noise of the truth"
# What `dof high` has to be better than the box gather by, in dB.
GATES = {"near": 7, "floor": 5, "layers": 6, "lights": 3}
# What the mean over scenes has to reach, and what it should: dB.
GOALS = ((("near", "lights", "floor", "layers"), 39.7, 40.3), (("foliage",), 33.8, 34.8), (("lamps",), 34.9, 35.3),
         (("wires",), 34.9, 35.3), (("page",), 30.5, 31.0), (("phone",), 36.0, 36.5))
MOST_BEHIND = 0.8  # dB that `dof fast` may be behind on these means


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


def told_seeds():
    return "Seeds %d to %d, %d rays." % (FIRST_SEED, FIRST_SEED + SEEDS - 1, RAYS)


def rows_of(table):
    return markdown(["method", *table.kinds], [[name, *cells.values()] for name, cells in table.cells.items()])


def exact_part(table):
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
    return "\n".join([told_seeds(), "", rows_of(table), "", "Differences of PSNR in dB:", "",
                      markdown(["", *table.kinds], differences), "", gates])


def goals_part(tables):
    rows = []
    for kinds, least, goal in GOALS:
        mean = {}
        for name in (*OURS, TRUE_HIDDEN, "true layers"):
            cells = [tables[kind].psnr(name, kind) for kind in kinds
                     if name in tables[kind].cells and (kind, name) != ("floor", "true layers")]
            mean[name] = sum(cells) / len(cells) if cells else 0
        verdict = "goal" if mean["dof high"] >= goal else "floor" if mean["dof high"] >= least else "missed"
        if mean["dof high"] - mean["dof fast"] > MOST_BEHIND:
            verdict += ", fast is %.2f behind" % (mean["dof high"] - mean["dof fast"])
        rows.append([", ".join(kinds), "%.1f" % least, "%.1f" % goal, *("%.2f" % value for value in mean.values()), verdict])
    return markdown(["mean of", "floor", "goal", *OURS, TRUE_HIDDEN, "true layers", "reached"], rows)


def highlights_part(tables):
    rows = [["%g" % factor, *("%.2f" % table.psnr("dof high", kind) for kind in table.kinds)] for factor, table in tables.items()]
    return markdown(["`--highlights`", *next(iter(tables.values())).kinds], rows)


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
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    study, cache = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    parts = sys.argv[3:] or ("exact", "hard", "highlights", "damaged")
    page = PAGE.read_text()
    if "exact" in parts or "hard" in parts:
        exact = measure(study, cache, "--noise", "--kinds", ",".join(PLAIN))
        hard = measure(study, cache, "--noise", "--kinds", ",".join(HARD))
        page = replace(page, "exact", exact_part(exact))
        page = replace(page, "hard", told_seeds() + "\n\n" + rows_of(hard))
        page = replace(page, "goals", goals_part({**{kind: exact for kind in PLAIN}, **{kind: hard for kind in HARD}}))
    if "highlights" in parts:
        kinds = "--kinds", ",".join(CLIPPED), "--methods", "dof high"
        page = replace(page, "highlights", highlights_part(
            {factor: measure(study, cache, *kinds, "--highlights", str(factor)) for factor in HIGHLIGHTS}))
    if "damaged" in parts:
        kinds = "--kinds", ",".join(PLAIN), "--methods", ",".join((*PEERS, *OURS))
        page = replace(page, "damaged", told_seeds() + "\n\n" + damaged_part(
            {damage: measure(study, cache, "--damages", damage, *kinds) for damage in DAMAGES}))
    PAGE.write_text(page)


main()
