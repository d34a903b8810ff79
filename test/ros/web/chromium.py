"""A real headless Chromium for tests, and where a point of the scene lies on its screen."""

import contextlib
import os
import shutil

import numpy as np
import pytest

BINARY = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
NO_BROWSER = "no chromium on the PATH; apt-get install chromium"
SOFTWARE_WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
DESKTOP, PHONE = (1280, 800), (390, 844)
PATIENCE_MS = 60_000


@contextlib.contextmanager
def chromium():
    """A browser, or a skipped test with its reason."""
    if BINARY is None:
        pytest.skip(NO_BROWSER)
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; see requirements-test.txt")
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()  # its own sandbox refuses root
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BINARY, args=[*sandbox, *SOFTWARE_WEBGL])
        try:
            yield browser
        finally:
            browser.close()


def open_page(browser, url, size=DESKTOP):
    """A tab of its own context with the page in it, and the list of its errors and of its requests elsewhere."""
    phone = size == PHONE
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, is_mobile=phone, has_touch=phone)
    page, faults = context.new_page(), []
    page.set_default_timeout(PATIENCE_MS)
    page.on("pageerror", lambda error: faults.append(str(error)))
    root = url.split("?")[0]
    page.on("request", lambda r: faults.append(r.url) if not r.url.startswith((root, "data:", "blob:")) else None)
    page.goto(url)
    page.get_by_role("button", name="Enable").wait_for()
    return page, faults


def on_screen(page, point_m, position_m, look_at_m, fov_rad):
    """Pixel of a point (3,) m of the base frame under a camera with z up; fov_rad is the vertical one."""
    box = page.locator("canvas").first.bounding_box()
    forward = np.subtract(look_at_m, position_m) / np.linalg.norm(np.subtract(look_at_m, position_m))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    ray = np.subtract(point_m, position_m)
    scale = 0.5 * box["height"] / np.tan(0.5 * fov_rad) / (ray @ forward)
    return (box["x"] + 0.5 * box["width"] + scale * (ray @ right), box["y"] + 0.5 * box["height"] - scale * (ray @ up))
