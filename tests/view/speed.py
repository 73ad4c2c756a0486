"""How fast the page shows changes of a picture of 12 megapixels at 1920 x 1080: speed.py [OUTPUT.json]. Needs a quiet machine."""
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

REPEATS = 20
DRAG_SECONDS = 5

# Moves a slider once. Gives milliseconds from then until the canvas shows a picture of the new settings, and their parts:
# settings until the server has them, waiting for the first byte of the pixels, receiving, drawing; and until true pixels.
CHANGE = """
const [name, value, done] = arguments, slider = document.getElementById(name);
const picture = document.getElementById('picture'), before = Number(picture.dataset.generation), since = performance.now();
performance.clearResourceTimings();
let told = null;
const painted = () => {
  const { generation, state } = picture.dataset, now = performance.now();
  if (Number(generation) <= before || state === 'busy') return;
  if (!told) {
    const requests = performance.getEntriesByType('resource');
    const settings = requests.find(({ name }) => name.endsWith('/api/settings'));
    const view = requests.find(({ name }) => name.includes('/api/view'));
    told = { shown: now - since, state, settings: settings.responseEnd - since, waiting: view.responseStart - settings.responseEnd,
      receiving: view.responseEnd - view.responseStart, drawing: now - view.responseEnd };
  }
  if (state !== 'true') return;
  picture.removeEventListener('painted', painted);
  done({ ...told, true: now - since });
};
picture.addEventListener('painted', painted);
slider.value = value;
for (const type of ['input', 'change']) slider.dispatchEvent(new Event(type));
"""

# Drags a slider for some seconds, 50 events a second, and gives the times at which the canvas showed other settings.
DRAG = """
const [name, seconds, done] = arguments, slider = document.getElementById(name);
const picture = document.getElementById('picture'), times = [], since = performance.now();
let last = picture.dataset.generation;
const painted = () => {
  const { generation, state } = picture.dataset;
  if (generation === last) return;
  last = generation;
  times.push(performance.now() - since);
};
picture.addEventListener('painted', painted);
const timer = setInterval(() => {
  const now = performance.now() - since;
  slider.value = 500 + 300 * Math.sin(now / 400);
  slider.dispatchEvent(new Event('input'));
  if (now < 1000 * seconds) return;
  clearInterval(timer);
  picture.removeEventListener('painted', painted);
  slider.dispatchEvent(new Event('change'));
  done(times);
}, 20);
"""


def write_pictures(folder):
    """A JPEG of 12 megapixels with detail of every size, and a depth map that falls from left to right."""
    random = np.random.default_rng(3)
    small = Image.fromarray(random.integers(0, 256, (60, 80, 3), np.uint8))
    small.resize((4000, 3000), Image.BICUBIC).save(Path(folder) / "large.jpg", quality=92)
    far = np.broadcast_to(np.arange(4000) * 255 // 3999, (3000, 4000))
    Image.fromarray(far.astype(np.uint8)).save(Path(folder) / "far.png")


def measure(page, slider, repeats=REPEATS, seconds=DRAG_SECONDS):
    """Medians in milliseconds, and pictures a second in a drag."""
    page.wait(120)
    page.browser.set_script_timeout(120)
    changes = [page.browser.execute_async_script(CHANGE, slider, 300 + 400 * i // repeats) for i in range(repeats)]
    result = {name: round(float(np.median([each[name] for each in changes])), 1)
              for name in ("shown", "settings", "waiting", "receiving", "drawing", "true")}
    times = page.browser.execute_async_script(DRAG, slider, seconds)
    page.wait(120)
    result.update(slowest=round(max(each["shown"] for each in changes), 1), first=changes[-1]["state"],
                  pictures_per_second=round(len(times) / seconds, 1),
                  longest_gap=round(float(max(np.diff([0, *times, 1000 * seconds]))), 1))
    return result


def main(output=None):
    from browser import Page, open_browser
    from conftest import BINARY, View

    result = {"binary": BINARY, "machine": platform.processor() or platform.machine(), "cores": os.cpu_count(),
              "load_before": os.getloadavg()[0], "when": time.strftime("%Y-%m-%d %H:%M")}
    with tempfile.TemporaryDirectory() as folder:
        write_pictures(folder)
        browser = open_browser(1920, 1080, records=False)
        try:
            for name, slider, options in (("blur", "radius", []), ("dof", "strength", ["--depth", "far.png"])):
                view = View(folder, "large.jpg", "--filter", name, *options)
                try:
                    result[name] = measure(Page(browser, view.url), "slider-control-" + slider)
                finally:
                    view.end()
        finally:
            browser.quit()
    text = json.dumps(result, indent=2)
    print(text)
    if output:
        Path(output).write_text(text + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
