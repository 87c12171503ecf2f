"""The machine, as far as numbers depend on it: no name of a person, a host or a folder."""

import os
import platform
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version

import torch

import attnkit


@dataclass(frozen=True)
class Machine:
    system: str
    processor: str
    cores: int
    threads: int
    python: str
    torch: str
    kernels: str
    attnkit: str
    numpy: str
    day: str

    @property
    def line(self) -> str:
        threads = f"{self.threads} thread" + "s" * (self.threads > 1)
        return (
            f"attnkit {self.attnkit}, Python {self.python}, PyTorch {self.torch}, {self.system} "
            f"{self.processor}, {self.cores} cores, {threads}"
        )


def machine(threads: int) -> Machine:
    """What this process runs on."""
    return Machine(
        system=f"{platform.system()} {platform.release().split('-')[0]}",
        processor=platform.machine(),
        cores=os.cpu_count() or 1,
        threads=threads,
        python=platform.python_version(),
        torch=torch.__version__,
        kernels=torch.backends.cpu.get_cpu_capability(),
        attnkit=attnkit.__version__,
        numpy=_version("numpy"),
        day=date.today().isoformat(),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
