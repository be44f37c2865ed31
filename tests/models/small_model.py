"""A small model with random weights, made on the spot: a folder as the Hugging Face hub has them.

It answers nonsense, by the same engine and the same kernels as a model that does not.
"""

import json

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]


def make_model(folder, *, seed=1, template=TEMPLATE):
    """Writes a Llama of two layers, and a tokenizer of bytes with a chat template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {word: number for number, word in enumerate([*SPECIAL, *letters])}
    bare = Tokenizer(models.BPE(vocab=words, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    bare.add_special_tokens(SPECIAL)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bare, chat_template=template, **dict.fromkeys(("eos_token", "pad_token"), SPECIAL[0])
    )
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        # With the usual, smaller weights every question would get the same answer.
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=0,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    model.to(torch.float32).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def with_remote_code(folder, trap):
    """Has a model's folder ask for code of its own, which writes a file."""
    code = f"open({str(trap)!r}, 'w').close()\nclass Config: pass\nclass Model: pass\n"
    (folder / "theirs.py").write_text(code)
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "theirs",
        "auto_map": {"AutoConfig": "theirs.Config", "AutoModelForCausalLM": "theirs.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))


class Trap:
    """What a pickle may hold: a call that is made when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def with_pickled_weights(folder, trap):
    """Has the weights of a model's folder be a pickle that writes a file."""
    import pickle

    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(trap)))
