"""Chapter 10: all-MiniLM-L6-v2 judged from outside, and what takes longer than a page may.

    python -m experiments.minilm             # what is missing in attnkit/data/ch10-minilm.json
    python -m experiments.minilm --again     # everything anew, about seven minutes on one core
    python -m experiments.minilm --reference # ch10-reference.safetensors; needs ``transformers``

A part is written as soon as it is done.
"""

import json
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from attnkit.pretrained import pool
from experiments import minilm_ablation as ablation
from experiments.minilm_pairs import DATA, PAIRS, SCALE, SENTENCES, chapter, judge, model

TABLE = DATA / "ch10-minilm.json"
SHUFFLES = 3
TWO = (
    "The Gryphon fell asleep over Uglification.",
    '"We called him Tortoise because he taught us," said the Mock Turtle angrily.',
)


def reference() -> None:
    """What ``transformers`` computes for two texts, the shorter one padded."""
    import transformers

    from attnkit.pretrained.folder import find_folder

    bert = transformers.BertModel.from_pretrained(find_folder(None), attn_implementation="eager")
    tokens = model.tokenize(TWO)
    real = torch.arange(tokens.ids.shape[1]) < tokens.lengths[:, None]
    with torch.no_grad():
        output = bert.eval()(tokens.ids, attention_mask=real.long(), output_attentions=True)
    tensors = {
        "ids": tokens.ids,
        "lengths": tokens.lengths,
        "hidden": output.last_hidden_state,
        "weights": torch.stack(output.attentions),
    }
    made = {"transformers": transformers.__version__, "torch": torch.__version__}
    made["texts"] = json.dumps(TWO)
    save_file(tensors, DATA / "ch10-reference.safetensors", made)


def pairs() -> dict:
    """The cosines of the whole model."""
    cosines = model.embed([p[0] for p in PAIRS]) @ model.embed([p[1] for p in PAIRS]).T
    apart = ~torch.eye(len(PAIRS), dtype=torch.bool)
    whole = {name: value for name, value in judge().items() if name in ("found", "loss")}
    return {**whole, "own": cosines.diagonal().tolist(), "others": cosines[apart].tolist()}


def over_texts(batches) -> dict:
    """Mean and standard deviation over texts of what a head gives to each kind of key."""
    given: dict[str, list] = {}
    for tokens, encoded in batches:
        inner = chapter.inner(tokens)
        for name, is_one in chapter.STORIES.items():
            keys = chapter.places_of(tokens, is_one)
            given.setdefault(name, []).append(chapter.share(encoded.weights, inner, keys))
        for name, offset in (("previous", -1), ("next", 1)):
            beside = encoded.weights.diagonal(offset, -2, -1)  # (layers, batch, heads, T - 1)
            queries = inner[:, 1:] if offset < 0 else inner[:, :-1]
            mean = (beside * queries[:, None]).sum(-1) / queries.sum(-1)[:, None]
            given.setdefault(name, []).append(mean)
            top = chapter.on_neighbour(encoded.weights, inner, offset)
            given.setdefault(f"top {name}", []).append(top)
    found = {}
    for name, parts in given.items():
        x = torch.cat(parts, dim=1)
        found[name] = {"mean": x.mean(1).tolist(), "sd": x.std(1).tolist()}
    return found


def count_pieces() -> None:
    """The chapter's counter of pieces, which its story of rare words looks into."""
    from collections import Counter

    space = chapter.STORIES["once"].__globals__
    space["counted"] = Counter(p for t in model.tokenize(SENTENCES).pieces for p in t)


def heads() -> dict:
    """All heads on the sentences as they are: weights, contributions, and one head in words."""
    count_pieces()
    seen = list(chapter.read(SENTENCES))
    with torch.no_grad():
        sizes = over_texts((t, e._replace(weights=chapter.contributed(e))) for t, e in seen)
    brought = {name: sizes[name] for name in ("[CLS]", "[SEP]", "marks")}
    return {"weights": over_texts(seen), "contributions": brought, "words": in_words(seen)}


def shuffles() -> list:
    """All heads on the same sentences with their pieces shuffled, once for each seed."""
    count_pieces()
    found = []
    for seed in range(SHUFFLES):
        rng = torch.Generator().manual_seed(100 + seed)
        batches = (chapter.shuffled(tokens, rng) for tokens, _ in chapter.read(SENTENCES))
        with torch.no_grad():
            table = over_texts((tokens, model(tokens)) for tokens in batches)
        found.append({name: columns["mean"] for name, columns in table.items()})
    return found


def in_words(batches) -> dict:
    """The previous-token head in words: sum over pieces attended to, mean over those attending."""
    scores = []
    for tokens, encoded in batches:
        for b, places in enumerate(tokens.words):
            n = max(w for w in places if w is not None) + 1
            one_hot = torch.zeros(n, encoded.weights.shape[-1])
            for place, word in enumerate(places):
                if word is not None:
                    one_hot[word, place] = 1
            mean = one_hot / one_hot.sum(-1, keepdim=True)
            by_word = mean @ encoded.weights[0, b, 2] @ one_hot.T
            diagonals = [by_word.diagonal(o).sum() / (n - 1 if o else n) for o in (-1, 0)]
            several = one_hot.sum(-1) > 1
            scores.append([*(d.item() for d in diagonals), several.float().mean().item()])
    mean = torch.tensor(scores)
    return dict(zip(("previous", "same", "several pieces"), mean.mean(0).tolist(), strict=True))


def padding() -> list:
    """Texts padded to a length, with and without the mask and the right mean."""
    found = []
    for length in (24, 48, 96):
        for masked, real in ((True, False), (False, True), (False, False)):

            def embed(texts, length=length, masked=masked, real=real):
                tokens, vectors = model.tokenize(texts), []
                ids = F.pad(tokens.ids, (0, length - tokens.ids.shape[1]))
                for part, n in zip(ids.split(32), tokens.lengths.split(32), strict=True):
                    with torch.no_grad():
                        hidden = model(part, n if masked else None, need_weights=False).hidden
                    vectors.append(pool(hidden, n if real else torch.full_like(n, length)))
                return torch.cat(vectors)

            found.append({"length": length, "masked": masked, "real": real, **judge(embed)})
    return found


def mistakes() -> list:
    """Models that run, and are wrong."""
    from copy import deepcopy

    from attnkit import MultiHeadAttention

    class Untransposed(MultiHeadAttention):
        def split_heads(self, projected):
            *lead, n, _ = projected.shape
            return projected.reshape(*lead, self.num_heads, n, self.d_head)

    def scaled(factor):
        def change(layer):
            layer.attention.query_proj.weight.mul_(factor)
            layer.attention.query_proj.bias.mul_(factor)

        return change

    def untransposed(layer):
        wrong = Untransposed(384, 12)
        wrong.load_state_dict(layer.attention.state_dict())
        layer.attention = wrong

    def activation(function):
        return lambda layer: setattr(layer, "activation", function)

    changes = {
        "GELU by its tanh formula": activation(lambda x: F.gelu(x, approximate="tanh")),
        "scores divided by √d_model": scaled(12**-0.5),
        "scores not divided": scaled(32**0.5),
        "ReLU in place of GELU": activation(F.relu),
        "heads cut without the transpose": untransposed,
        "norms before the blocks": lambda layer: setattr(layer, "norm_first", True),
    }
    tokens = model.tokenize(TWO)
    real = tokens.mask[:, 0, 0]
    found = []
    changes = {"nothing": lambda layer: None, **changes, "positions from 1": None}
    for name, change in changes.items():
        wrong = deepcopy(model)
        with torch.no_grad():
            if change is None:
                positions = wrong.position_embedding.weight
                positions.copy_(positions.roll(-1, 0))
            else:
                for layer in wrong.layers:
                    change(layer)
            off = (wrong.eval()(tokens).hidden - model(tokens).hidden)[real].abs().max().item()
        found.append({"mistake": name, "off": off, **judge(wrong.embed)})
    return found


def rounded(x):
    """The same table with four decimals."""
    if isinstance(x, dict):
        return {name: rounded(value) for name, value in x.items()}
    if isinstance(x, list):
        return [rounded(value) for value in x]
    return round(x, 4) if isinstance(x, float) else x


PARTS = {
    "pairs": pairs,
    "heads": heads,
    "shuffled": shuffles,
    "padding": padding,
    "mistakes": mistakes,
    "one by one": ablation.one_by_one,
    "layers": ablation.layers,
}


def main() -> None:
    if "--reference" in sys.argv:
        reference()
        return
    made = {"made_by": "python -m experiments.minilm", "torch": torch.__version__}
    made |= {"sentences": len(SENTENCES), "pairs of": len(PAIRS), "scale": SCALE}
    table = {"made": made}
    if TABLE.exists() and "--again" not in sys.argv:
        table = json.loads(TABLE.read_text())
    for name in [*PARTS, "orders"]:
        if name in table:
            continue
        print(name, flush=True)
        alone = table.get("one by one", {}).get("zero", {}).get("sentences")
        table[name] = rounded(ablation.orders(alone) if name == "orders" else PARTS[name]())
        half = TABLE.with_suffix(".half")
        half.write_text(json.dumps(table) + "\n")
        half.replace(TABLE)


if __name__ == "__main__":
    main()
