"""Tiny networks with random weights, saved to folders as the real ones are."""

import importlib

__all__ = ["import_timm", "make_sentence_network", "make_timm_network"]

_KEPT = []


def import_timm():
    """Import timm, also where torchvision's compiled part is made for another torch.

    The networks need none of its two operators; only their names must be there.
    """
    import torch

    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor d, Tensor s, float iou_threshold) -> Tensor")
        _KEPT.append(library)
    return importlib.import_module("timm")


def make_timm_network(folder, seed=0):
    """A network of a few thousand weights for images."""
    import torch

    timm = import_timm()
    from timm.models import save_for_hf

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = timm.create_model("test_resnet", pretrained=False)
    save_for_hf(network, str(folder), safe_serialization=True)
    return f"timm:{folder}"


def make_sentence_network(folder, words):
    """A network of one layer for texts of some words."""
    import torch

    import_timm()  # transformers look for torchvision
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel, BertTokenizerFast

    parts = folder / "parts"
    parts.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (parts / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(vocab_file=str(parts / "vocab.txt")).save_pretrained(parts)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
        )
        BertModel(config).save_pretrained(parts)
    words_in = modules.Transformer(str(parts))
    made = SentenceTransformer(modules=[words_in, modules.Pooling(16)])
    made.save(str(folder / "network"))
    return f"sentence-transformers:{folder / 'network'}"
