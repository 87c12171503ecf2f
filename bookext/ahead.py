"""Execute the chapters side by side, before Sphinx reads them one after the other.

Sphinx reads page by page, and myst-nb executes a page when it is read: one kernel, one core. Here
every page that would be executed is executed before, a few at a time, and stored as myst-nb stores
it in the execution cache. Reading then finds all outputs there. What is in the book does not depend
on it: each kernel has its own process and the threads that bookext.cache fixes.
"""

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from weakref import WeakSet

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from jupyter_client.manager import AsyncKernelManager
from myst_nb.core.read import MystMetadataParsingError, create_nb_reader
from nbformat import NotebookNode
from sphinx.util import logging
from yaml import YAMLError

from bookext.failures import failure

logger = logging.getLogger(__name__)

#: More kernels than these gain little: the longest chapter decides, and each kernel loads torch.
MOST_KERNELS = 4

#: For a kernel to answer on a machine that has other things to do.
START_SECONDS = 300


class Kernel(AsyncKernelManager):
    """A kernel that is remembered, so that an interrupted build does not leave it running."""

    every: ClassVar["WeakSet[Kernel]"] = WeakSet()

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.every.add(self)


@dataclass
class Waiting:
    """A page whose outputs are not in the cache."""

    docname: str
    path: Path
    notebook: NotebookNode


def kernels(app) -> int:
    """How many pages are executed at a time: one for each core, unless the configuration says."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return app.config.bookext_kernels or min(cores or 1, MOST_KERNELS)


def execute(app, env, docnames: list[str]) -> None:
    """Bring the outputs of all pages that Sphinx is about to read into the execution cache."""
    config = env.mystnb_config
    if config.execution_mode != "cache":
        return
    cache = get_cache(config.execution_cache_path)
    waiting = [page for docname in docnames if (page := not_executed(env, cache, docname))]
    at_a_time = min(kernels(app), len(waiting))
    if at_a_time < 2:
        return  # Sphinx does it, as well
    logger.info("executing %d pages, %d at a time", len(waiting), at_a_time)
    failed = []
    with ThreadPoolExecutor(at_a_time) as pool:
        runs = {pool.submit(run, page, config): page for page in waiting}
        try:
            for number, done in enumerate(finished(set(runs), failed), start=1):
                page, result = runs[done], done.result()
                if result.err is not None:
                    failed.append((page, result.err))
                    continue
                cache.cache_notebook_bundle(
                    CacheBundleIn(
                        page.notebook, str(page.path), data={"execution_seconds": result.time}
                    ),
                    check_validity=False,
                    overwrite=True,
                )
                logger.info(
                    "executed %s in %.0f s (%d of %d)",
                    *(page.docname, result.time, number, len(waiting)),
                )
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_kernels()
            raise
    if failed:
        page, error = min(failed, key=lambda pair: pair[0].docname)
        raise failure(page.path, Path(app.srcdir), error)


def finished(running: set[Future], failed: list) -> Iterator[Future]:
    """Each run as it ends. After a failure no other begins; those that run are waited for.

    ``as_completed`` would wait for ever for a run that was taken back before it began.
    """
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        yield from done
        if failed:
            running = {each for each in running if not each.cancel()}


def not_executed(env, cache, docname: str) -> Waiting | None:
    """The notebook of a page as myst-nb reads it, unless the cache has it or it is none.

    bookext.public takes prose out of a page before myst-nb sees it; the code, which alone is
    executed and looked up, is that of the file.
    """
    path = Path(env.doc2path(docname))
    text = path.read_text("utf-8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    if reader is None:
        return None
    try:
        notebook = reader.read(text)
    except (MystMetadataParsingError, YAMLError):
        return None  # Sphinx reads it next, and says what is wrong with it
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return Waiting(docname, path, notebook)
    return None


def run(page: Waiting, config):
    """What myst-nb does with a page that is not in its cache, in the folder of the page."""
    return single_nb_execution(
        page.notebook,
        cwd=str(page.path.parent.absolute()),
        timeout=config.execution_timeout,
        allow_errors=config.execution_allow_errors,
        kernel_manager_class=Kernel,
        startup_timeout=START_SECONDS,
    )


def end_kernels() -> None:
    for kernel in list(Kernel.every):
        if kernel.has_kernel:
            kernel.provisioner.process.kill()


def setup(app):
    app.add_config_value("bookext_kernels", 0, "", [int])
    app.connect("env-before-read-docs", execute)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
