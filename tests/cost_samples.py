"""Made-up costs of five kinds of attention, some of which were not run at every n."""

from attnkit.widgets import CostWidget

SIZES = [128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]


def measured(sizes, milliseconds, megabytes):
    """n → (median, low, high, megabytes) by two rules of n, with a spread that differs."""
    return {
        n: (milliseconds(n), milliseconds(n) * (0.97 - i / 50), milliseconds(n) * (1.05 + i / 40),
            megabytes(n))
        for i, n in enumerate(sizes)
    }  # fmt: skip


CURVES = [
    ("full attention", measured(SIZES[:7], lambda n: 0.4 + n * n / 7e4, lambda n: n * n / 8.7e4)),
    ("window as a mask", measured(SIZES[:7], lambda n: 0.5 + n * n / 6e4, lambda n: n * n / 8e4)),
    ("window of 128", measured(SIZES, lambda n: 0.9 + n / 23, lambda n: n / 1900)),
    ("linear", measured(SIZES, lambda n: 0.7 + n / 61, lambda n: n / 317)),
    ("fused", measured([128, 256, 1024, 4096, 16384], lambda n: 0.2 + n * n / 3e5, lambda n: None)),
]


def cost_widget(curves=CURVES, **traits):
    return CostWidget(curves, **traits)
