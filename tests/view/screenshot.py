"""The README's picture of the page: screenshot.py SATIN PICTURE DEPTH OUTPUT."""
import os
import shutil
import sys
import tempfile
from pathlib import Path


def take(satin, picture, depth, output):
    """The page of dof, the white king in focus, half of it before, as JPEG."""
    os.environ["SATIN_BINARY"] = satin
    from browser import Page, open_browser
    from conftest import View

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(picture, Path(folder) / "chess.png")
        shutil.copy(depth, Path(folder) / "depth.png")
        settings = ["--depth", "depth.png", "--focus-at", "62%,60%", "--strength", "2.5%", "--highlights", "4"]
        view = View(folder, "chess.png", *settings, "-o", "portrait.jpg")
        browser = open_browser(1200, 750, dark=True)
        try:
            page = Page(browser, view.url)
            page.slide("compare", 38)
            page.mouse().move_to_element_with_offset(page.find("picture"), 117, -20).perform()
            page.wait_until(lambda: "Radius" in page.text("loupe-values"))
            page.save_screenshot(output)
        finally:
            browser.quit()
            view.end()


if __name__ == "__main__":
    take(*map(os.path.abspath, sys.argv[1:]))
