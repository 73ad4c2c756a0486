"""satin view, what takes too long for tests/run: a minute of load, and a picture of 0.9 gigapixel.

`tests/long view-server` runs the load with ThreadSanitizer as well, whose reports would be on standard error."""
import json
import os
import random
import resource
import struct
import subprocess
import threading
import time

import numpy as np
import pytest

import png_file
from conftest import BINARY
from view_server import View, needs_server

pytestmark = needs_server

SECONDS = float(os.environ.get("SATIN_LOAD_SECONDS", "60"))
STEPS = [[{"filter": "blur", "values": {"radius": "9"}}], [{"filter": "median", "values": {"radius": "40"}}],
         [{"filter": "dof", "values": {"depth": "depth.png", "strength": "2%"}}],
         [{"filter": "blur", "values": {"radius": "3"}}, {"filter": "unsharp", "values": {}}]]


class Client(threading.Thread):
    """Does what pages do, in no order, and counts what comes back."""

    def __init__(self, view, seed, end):
        super().__init__()
        self.view, self.random, self.end = view, random.Random(seed), end
        self.statuses, self.newest = {}, 0

    def run(self):
        while time.monotonic() < self.end:
            what, reply = self.ask()
            state = reply.fields.get("x-satin-state")
            status = state if state in ("refused", "stale") else reply.status
            self.statuses[what, status] = self.statuses.get((what, status), 0) + 1
            self.newest = max(self.newest, int(reply.fields.get("x-satin-generation", 0)))

    def ask(self):
        """Sends a request of a random kind, most often a view."""
        chance, view = self.random.random(), self.view
        if chance < 0.55:
            generation = view.ask("GET", "/api/changes").json()["generation"]
            return "view", view.ask("GET", "/api/view?generation=%d&x=%d&y=9&width=300&height=200&zoom=%s&exact=%d&before=%d" % (
                generation, self.random.randrange(500), self.random.choice(["1", "0.3", "4"]), self.random.random() < 0.3,
                self.random.random() < 0.2))
        if chance < 0.8:
            return "settings", view.post("/api/settings", steps=self.random.choice(STEPS))
        if chance < 0.85:
            stroke = {"points": [[self.random.random() * 600, 50], [300, 200]], "radius": 30, "hardness": 0.5}
            return "mask", view.post("/api/mask", strokes=[stroke], step=0)
        if chance < 0.9:
            return "open", view.post("/api/open", index=self.random.randrange(2))
        if chance < 0.95:
            return "save", view.post("/api/save", name="saved.png", overwrite=True)
        if chance < 0.97:
            with view.connect() as connection:
                connection.sendall(view.request("GET", "/api/session"))  # and away before the answer
            return "gone", view.ask("GET", "/api/at?x=5&y=5")
        return "session", view.ask("GET", "/api/session")


def test_a_minute_of_load(satin, noise):
    (satin.folder / "in").mkdir()
    for i in range(2):
        png_file.write(satin.folder / "in" / ("%d.png" % i), noise((400 + i, 600, 3), seed=i))
        png_file.write(satin.folder / "in" / "depth.png", noise((40, 60)))
    with View(satin, "in/0.png", "in/1.png", "-o", "out") as view:
        view.patience = 100
        view.open()
        end = time.monotonic() + SECONDS
        clients = [Client(view, seed, end) for seed in range(6)]
        idle = [view.connect() for _ in range(40)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(SECONDS + 120)
            assert not client.is_alive()
        for connection in idle:
            connection.close()
        statuses = {}
        for client in clients:
            for key, count in client.statuses.items():
                statuses[key] = statuses.get(key, 0) + count
        print(json.dumps({"%s %s" % key: count for key, count in statuses.items()}))
        # A mask or a file may come when the picture or the filter is another one.
        allowed = {"view": {200, "stale"}, "mask": {200, "refused"}}
        for (what, status), count in statuses.items():
            assert status in allowed.get(what, {200}), (what, status, count)
        assert statuses["view", 200] > 20
        last = view.post("/api/settings", steps=STEPS[0]).json()
        assert view.pixels(last["generation"], 64, 64, exact=1)[1] == "true"
        code, error = view.end()
    assert code == 130 and error == "", error[:4000]


def write_tiff(path, side, rows=500):
    """Writes a grey picture of 8 bits strip by strip."""
    count = side // rows
    x = np.arange(side)
    with open(path, "wb") as file:
        file.write(b"II*\0" + bytes(4))
        places = []
        for strip in range(count):
            places.append(file.tell())
            y = np.arange(strip * rows, (strip + 1) * rows)[:, None]
            file.write((((x // 7) ^ (y // 5)) + (x * y >> 16) & 255).astype(np.uint8).tobytes())
        lists = file.tell()
        file.write(struct.pack("<%dI" % count, *places) + struct.pack("<%dI" % count, *[side * rows] * count))
        directory = file.tell()
        entries = [(256, 4, 1, side), (257, 4, 1, side), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
                   (273, 4, count, lists), (277, 3, 1, 1), (278, 4, 1, rows), (279, 4, count, lists + 4 * count)]
        file.write(struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4))
        file.seek(4)
        file.write(struct.pack("<I", directory))


def peak(process):
    """KiB that a process has held at most."""
    with open("/proc/%d/status" % process.pid) as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


@pytest.mark.skipif(bool(os.environ.get("SATIN_LOAD_SECONDS")), reason="the load alone was asked for")
def test_a_gigapixel(satin):
    """The page stays within 1.3 times the command's memory and shows a part again within 100 ms."""
    write_tiff(satin.folder / "big.tif", 30000)
    command = [BINARY, "blur", "big.tif", "-o", "out.tif", "--radius", "20"]
    subprocess.run(command, cwd=satin.folder, check=True, timeout=900)
    wanted = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    (satin.folder / "out.tif").unlink()
    with View(satin, "big.tif", "-o", "out.tif", "--filter", "blur", "--radius", "20") as view:
        generation = view.open()["generation"]
        view.pixels(generation, 1280, 800, zoom=0.03)
        view.pixels(generation, 1280, 800, x=9000, y=9000, exact=1)
        times = {}
        for zoom in (1, 0.5, 0.3, 0.1, 0.03):
            view.pixels(generation, 1280, 800, x=1000, y=3000, zoom=zoom, exact=1)
            starts = [(time.monotonic(), view.pixels(generation, 256, 256, x=1000 + 100 * i, y=3000, zoom=zoom))
                      for i in range(5)]
            times[zoom] = min(b[0] - a[0] for a, b in zip(starts, starts[1:]))
        print("seconds a tile by zoom:", times, "memory over the command's: %.2f" % (peak(view.process) / wanted))
        assert max(times.values()) < 0.1
        assert peak(view.process) <= 1.3 * wanted
