"""Chapter 7: maps of a pretrained encoder, for a page that does not load its 90 megabytes.

    python -m experiments.encoder_maps     # attnkit/data/ch7-encoder.safetensors; seconds

All-MiniLM-L6-v2 reads those of the three hundred sentences of chapter 10 that have fourteen tokens
with ``[CLS]`` and ``[SEP]``: all the same number, so that nothing is padded.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from attnkit.pretrained import load_minilm

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TOKENS = 14


@torch.no_grad()
def main() -> None:
    model = load_minilm()
    drawn = json.loads((DATA / "ch10-sentences.json").read_text())["sentences"]
    texts = [text for source in drawn.values() for text in source]
    texts = [text for text in texts if len(model.tokenize(text).pieces[0]) == TOKENS]
    tokens = model.tokenize(texts)
    made = {"made_by": "python -m experiments.encoder_maps", "torch": torch.__version__}
    made["pieces"] = json.dumps(tokens.pieces)
    weights = model(tokens).weights.half()  # (layers, sentences, heads, tokens, tokens)
    save_file({"weights": weights}, DATA / "ch7-encoder.safetensors", made)


if __name__ == "__main__":
    main()
