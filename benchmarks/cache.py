"""What keeping keys and values saves a decoder, and what the layers cost beside PyTorch's."""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn

from attnkit import causal_mask, padding_mask
from attnkit.ablation import attention_modules
from attnkit.grouped_query import GroupedQueryAttention
from attnkit.tasks import Vocabulary
from attnkit.transformer import DecoderLayer, Transformer
from benchmarks.measure import time_ratio
from benchmarks.report import Settings, Table

D_MODEL, HEADS, LAYERS, BATCH, N_SOURCE = 128, 8, 2, 8, 24
#: words written, and what writing with the cache may take of the time without
LENGTHS = {8: 1.1, 32: 0.8, 96: 0.4}
#: heads of keys and values, and the bytes that a word takes of those of as many heads as queries
GROUPS = {8: 1.0, 2: 0.25, 1: 0.125}
LAYER = 1.15  # a decoder layer's time over PyTorch's
COLUMNS = ("figure", "measured", "quartiles", "target", "peer", "pairs")


def section(settings: Settings) -> Table:
    """Writing words with and without a cache, bytes of the cache, and a decoder layer."""
    rows, missed = [], []

    def add(figure: str, ours, peer, target: float) -> None:
        seconds = 0.2 if settings.quick else 4.0
        ratio = time_ratio(ours, peer, seconds=seconds, clock=settings.clock)
        spread = f"{ratio.lower:.2f} … {ratio.upper:.2f}"
        row = [figure, f"{ratio.median:.2f}", spread, f"≤ {target:g}",
               f"{1e3 * ratio.peer_seconds:.1f} ms", str(ratio.pairs)]  # fmt: skip
        rows.append(row)
        print(*row, sep="  ", file=sys.stderr, flush=True)
        if ratio.median > target:
            missed.append(f"{figure}: {ratio.median:.2f}, target {target:g}")

    model, inputs = endless(settings.seed), sources(settings.seed)
    for length, target in list(LENGTHS.items())[: 2 if settings.quick else None]:
        add(
            f"{length} words with the cache, over without",
            lambda n=length: model.greedy(*inputs, n),
            lambda n=length: model.greedy(*inputs, n, cache=False),
            target,
        )
    whole = 0.0
    for heads, target in GROUPS.items():
        size = bytes_a_word(settings.seed, heads)
        whole = whole or size
        figure = f"bytes kept a word, {heads} of {HEADS} heads of keys and values"
        rows.append([figure, f"{size:.0f}", "", f"{target:g} · {whole:.0f}", "", ""])
        if size != target * whole:
            missed.append(f"{figure}: {size:.0f}, target {target * whole:.0f}")
    for norm_first in (True, False):
        ours, theirs = layers(settings.seed, norm_first)
        add(
            f"decoder layer, {'pre' if norm_first else 'post'}-norm, over PyTorch's",
            ours,
            theirs,
            LAYER,
        )
    note = (
        f"d_model {D_MODEL}, {HEADS} heads, {LAYERS} layers, {BATCH} sequences. Ratio: our time "
        "over the other's, median of pairs timed in turn."
    )
    return Table("Keys and values kept", note, COLUMNS, rows, missed)


def endless(seed: int) -> Transformer:
    """A model that never ends a sequence, so that as many words are written as are allowed."""
    torch.manual_seed(seed)
    tokens = Vocabulary([str(i) for i in range(40)])
    model = Transformer(
        tokens, tokens, d_model=D_MODEL, num_heads=HEADS, num_layers=LAYERS, d_hidden=4 * D_MODEL
    )
    with torch.no_grad():
        model.readout.bias[Vocabulary.eos] = -1e9
    return model.eval()


def sources(seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(3, 43, (BATCH, N_SOURCE), generator=generator)
    lengths = torch.randint(N_SOURCE // 2, N_SOURCE + 1, (BATCH,), generator=generator)
    return source, lengths


def bytes_a_word(seed: int, key_value_heads: int) -> float:
    """Of the self-attention of all layers, for one sequence."""
    model = endless(seed)
    for name, _ in attention_modules(model):
        if name.endswith("self_attention"):
            attention = GroupedQueryAttention(D_MODEL, HEADS, key_value_heads)
            model.get_submodule(name.rpartition(".")[0]).self_attention = attention
    memory, caches = model.encode(*sources(seed)), model.new_caches()
    words = torch.full((BATCH, 10), 5)
    with torch.no_grad():
        model.decode(words, memory, caches=caches)
    return sum(cache.self_attention.n_bytes for cache in caches) / words.numel()


def layers(seed: int, norm_first: bool):
    """One forward pass of ours, without weights, and of PyTorch's, padding masked in both."""
    torch.manual_seed(seed)
    options = {"dropout": 0.0, "norm_first": norm_first}
    ours = DecoderLayer(D_MODEL, HEADS, 4 * D_MODEL, **options).eval()
    theirs = nn.TransformerDecoderLayer(
        D_MODEL, HEADS, 4 * D_MODEL, batch_first=True, **options
    ).eval()
    _, lengths = sources(seed)
    x, memory = torch.randn(BATCH, 64, D_MODEL), torch.randn(BATCH, N_SOURCE, D_MODEL)
    causal, padding = causal_mask(64), padding_mask(lengths, N_SOURCE)
    later, blocked = ~causal, ~padding[:, 0, 0]

    def own():
        with torch.no_grad():
            return ours(x, memory, causal, padding, need_weights=False)

    def peer():
        with torch.no_grad():
            return theirs(x, memory, later, memory_key_padding_mask=blocked)

    return own, peer
