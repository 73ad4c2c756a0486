"""satin_scan_algorithms from outside, and its pages."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = os.environ["SATIN_SCAN_ALGORITHMS"]
FOLDER = pathlib.Path(os.environ["SATIN_SOURCE"]) / "samples" / "scan_algorithms"
PAGES = ("README.md", "wavelet_matrix.md")
EXAMPLE = [3, 1, 7, 0, 4, 1, 6, 3]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300)


def rows(trace):
    """The rows of numbers of a trace: (label, numbers)."""
    found = re.findall(r"^(\S.*?)  +((?:-?\d+ *)+)$", trace, re.MULTILINE)
    return [(label, [int(word) for word in numbers.split()]) for label, numbers in found]


class Page(unittest.TestCase):
    def make_page(self, folder):
        return subprocess.run([sys.executable, "-B", str(folder / "make_page"), PROGRAM, "--check"],
                              capture_output=True, text=True)

    def test_listings_are_what_the_program_prints(self):
        done = self.make_page(FOLDER)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_changed_listing_is_noticed(self):
        for name, listed, changed in (("README.md", "11 11 15 16 22 25", "11 11 14 16 22 25"),
                                      ("wavelet_matrix.md", "0  1  2  2  3  3  4  4  5", "0  1  2  2  3  3  4  5  5")):
            with tempfile.TemporaryDirectory() as work:
                copy = pathlib.Path(work) / "copy"
                shutil.copytree(FOLDER, copy)
                page = copy / name
                text = page.read_text(encoding="utf-8")
                self.assertIn(listed, text)
                page.write_text(text.replace(listed, changed), encoding="utf-8")
                done = self.make_page(copy)
                self.assertEqual(done.returncode, 1)
                self.assertIn("prints: %s." % name, done.stderr)

    def test_every_algorithm_is_on_a_page(self):
        text = "".join((FOLDER / name).read_text(encoding="utf-8") for name in PAGES)
        for name in run("list").stdout.split():
            self.assertIn("<!-- run: trace %s -->" % name, text)


class Traces(unittest.TestCase):
    def test_results(self):
        inclusive = [3, 4, 11, 11, 15, 16, 22, 25]
        exclusive = [0, 3, 4, 11, 11, 15, 16, 22]
        last = {"sequential": inclusive, "hillis_steele": inclusive, "blelloch": exclusive,
                "hillis_steele_blocks": exclusive, "blelloch_blocks": exclusive, "chained": inclusive}
        for name, expected in last.items():
            trace = rows(run("trace", name).stdout)
            self.assertEqual(trace[0], ("x", EXAMPLE))
            self.assertEqual(trace[-1][1], expected, name)

    def test_counts(self):
        self.assertIn("7 operations, depth 7,", run("trace", "sequential").stdout)
        self.assertIn("17 operations, depth 3,", run("trace", "hillis_steele").stdout)
        self.assertIn("14 operations, depth 6,", run("trace", "blelloch").stdout)

    def test_sort(self):
        splits = [numbers for label, numbers in rows(run("trace", "split_sort").stdout) if label.startswith("split")]
        keys = EXAMPLE
        for bit, split in enumerate(splits):
            keys = sorted(keys, key=lambda key: key >> bit & 1)  # Python's sort is stable
            self.assertEqual(split, keys)
        self.assertEqual(splits[-1], sorted(EXAMPLE))

    def test_wavelet_matrix(self):
        text = run("trace", "wavelet_matrix").stdout
        trace = rows(text)
        splits = [numbers for label, numbers in trace if label.startswith("split")]
        ranks = [numbers for label, numbers in trace if label == "0s before"]
        values = EXAMPLE
        for bit, split, zeros_before in zip((2, 1, 0), splits, ranks, strict=True):
            zeros = [1 - (value >> bit & 1) for value in values]
            self.assertEqual(zeros_before, [sum(zeros[:place]) for place in range(9)])
            values = sorted(values, key=lambda value: value >> bit & 1)
            self.assertEqual(split, values)
        self.assertIn("3 scans, 90 operations,", text)
        self.assertIn("value          %d\n3 operations, depth 3, 36 bytes\n" % sorted(EXAMPLE[2:7])[2], text)

    def test_median_of_a_window(self):
        text = run("trace", "window_medians").stdout
        picture = [numbers for label, numbers in rows(text) if label.startswith("row ")]
        self.assertEqual([len(row) for row in picture], [5, 5, 5, 5])
        window = [value for row in picture[1:4] for value in row[1:4]]
        self.assertIn("12 scans, ", text)  # 3 bits of a value, for each of them 1 + 3 bits of a column
        self.assertIn("median         %d\n24 operations, depth 15, 252 bytes\n" % sorted(window)[4], text)

    def test_segments_averages_and_bins(self):
        self.assertIn("values         3 4 11 0 4 1 7 10\n", run("trace", "segmented").stdout)
        self.assertIn("0.6 0.68 1.344 1.2752 2.02016 3.416128 3.1329024 3.70632192\n",
                      run("trace", "moving_average").stdout)
        self.assertIn("8 bins: 26 24 26 22 13 12 5 0\n", run("trace", "bins").stdout)


class Command(unittest.TestCase):
    def test_measure(self):
        with tempfile.TemporaryDirectory() as work:
            plot = pathlib.Path(work) / "plot.svg"
            done = run("measure", "--max-n", "1000", "--json", "--plot", str(plot))
            self.assertEqual(done.returncode, 0, done.stderr)
            xml.etree.ElementTree.parse(plot)
        measured = {row["algorithm"]: row for row in json.loads(done.stdout)["cpu"]}
        self.assertEqual(set(measured), {"copy", "library", *run("list").stdout.split()})
        self.assertEqual(measured["sequential"]["operations"], 999)
        self.assertEqual(measured["hillis_steele"]["depth"], 10)
        self.assertEqual(measured["copy"]["bytes"], 8000)
        for row in measured.values():
            self.assertGreater(row["milliseconds"], 0)

    def test_pictures(self):
        for name in ("hillis_steele", "blelloch"):
            xml.etree.ElementTree.fromstring(run("picture", name).stdout)

    def test_usage_errors(self):
        for arguments in (["--max-n"], ["--max-n", "999"], ["--max-n", "1e6"], ["trace"], ["trace", "quick"],
                          ["picture", "chained"], ["check", "--json"], ["measure", "more"], ["--quiet"]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertIn("satin_scan_algorithms: ", done.stderr)

    def test_plot_that_cannot_be_written(self):
        done = run("--max-n", "1000", "--plot", "/nowhere/plot.svg")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/plot.svg", done.stderr)


if __name__ == "__main__":
    unittest.main()
