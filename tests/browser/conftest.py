"""A browser for the tests: one Chromium for the whole run."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium_path():
    """$CHROMIUM, then the PATH; None leaves the choice to Playwright's own browser."""
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((path for name in names if name and (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser(chromium_path):
    with sync_playwright() as playwright:
        if chromium_path is None and not os.path.exists(playwright.chromium.executable_path):
            pytest.fail(
                "The browser tests need Chromium and found none. Set CHROMIUM to its path, install "
                "the package chromium, or run: playwright install chromium",
                pytrace=False,
            )
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield chromium
        chromium.close()
