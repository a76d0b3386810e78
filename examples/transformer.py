"""Reads handwritten digits with a binary transformer: `python examples/transformer.py`.

Trains a small transformer on scikit-learn's 1,797 digits in PyTorch, and beside it the same network
in float. In the binary one all dense layers multiply signs with signs, queries, keys and values are
signs, and attention is 0 or 1, so that the converted file multiplies nothing but bits between the
first layer and the last. Needs scikit-learn and torch.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

import larq_engine

TOKENS, WIDTH, HEADS, LAYERS = 16, 64, 2, 2  # a token is a patch of 2x2 pixels


def sign(x: Tensor) -> Tensor:
    """Returns -1 and 1, with the gradient of x between them."""
    clipped = x.clamp(-1, 1)
    return clipped + (torch.where(x >= 0, 1.0, -1.0) - clipped).detach()


def attends(share: Tensor) -> Tensor:
    """Returns 1 for more than an equal share of attention, else 0, with the share's gradient."""
    scaled = (share * TOKENS / 2).clamp(0, 1)
    return scaled + ((share > 1 / TOKENS).float() - scaled).detach()


class BinaryLinear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(sign(x), sign(self.weight), self.bias)


class Attention(nn.Module):
    def __init__(self, is_binary: bool) -> None:
        super().__init__()
        self.is_binary = is_binary
        linear = BinaryLinear if is_binary else nn.Linear
        self.query, self.key, self.value, self.out = (linear(WIDTH, WIDTH) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))

    def heads(self, x: Tensor) -> Tensor:
        x = sign(x) if self.is_binary else x
        return x.view(-1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        layers = zip((self.query, self.key, self.value), self.norms, strict=True)
        query, key, value = (self.heads(norm(layer(x))) for layer, norm in layers)
        shares = torch.softmax(query @ key.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5, -1)
        mixed = (attends(shares) if self.is_binary else shares) @ value
        return self.out(mixed.transpose(1, 2).reshape(-1, TOKENS, WIDTH))


class Layer(nn.Module):
    def __init__(self, is_binary: bool) -> None:
        super().__init__()
        linear = BinaryLinear if is_binary else nn.Linear
        self.attention = nn.Sequential(nn.LayerNorm(WIDTH), Attention(is_binary))
        middle = nn.LayerNorm(2 * WIDTH) if is_binary else nn.GELU()
        self.dense = nn.Sequential(
            nn.LayerNorm(WIDTH), linear(WIDTH, 2 * WIDTH), middle, linear(2 * WIDTH, WIDTH)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.norms[0](self.attention(x))
        return x + self.norms[1](self.dense(x))


class Transformer(nn.Module):
    def __init__(self, is_binary: bool) -> None:
        super().__init__()
        self.first = nn.Linear(64 // TOKENS, WIDTH)
        self.places = nn.Parameter(torch.randn(TOKENS, WIDTH) * 0.5)
        self.layers = nn.Sequential(*(Layer(is_binary) for _ in range(LAYERS)))
        self.last = nn.Linear(WIDTH, 10)

    def forward(self, patches: Tensor) -> Tensor:
        return self.last(self.layers(self.first(patches) + self.places).mean(1))


def train(module: nn.Module, patches: Tensor, labels: Tensor, epochs: int) -> nn.Module:
    steps = epochs * -(-len(patches) // 50)
    optimizer = torch.optim.Adam(module.parameters(), 0.003)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, total_steps=steps)
    for batch in [b for _ in range(epochs) for b in torch.randperm(len(patches)).split(50)]:
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(patches[batch]), labels[batch]).backward()
        optimizer.step()
        schedule.step()
    return module.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description="Handwritten digits with a binary transformer.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--output", type=Path, default=Path("transformer.tflite"))
    arguments = parser.parse_args()
    images, labels = load_digits(return_X_y=True)
    patches = (images.reshape(-1, 4, 2, 4, 2) / 8 - 1).transpose(0, 1, 3, 2, 4)
    patches = patches.reshape(-1, TOKENS, 4).astype(np.float32)
    order = np.random.default_rng(1).permutation(len(labels))
    seen, new = order[:1000], order[1000:]
    x, y = torch.tensor(patches[seen]), torch.tensor(labels[seen])
    sizes, scores = {}, {}
    for name in ("float", "binary"):
        torch.manual_seed(1)
        module = train(Transformer(name == "binary"), x, y, arguments.epochs)
        file = larq_engine.convert_torch(module, x[:1])
        sizes[name] = len(file)
        with torch.no_grad():
            scores[name] = module(torch.tensor(patches[new])).numpy()
    arguments.output.write_bytes(file)
    with larq_engine.Interpreter(file) as interpreter:
        scores[str(arguments.output)] = interpreter.predict(patches[new])
    for name, answers in scores.items():
        print(f"{name}: {np.mean(answers.argmax(1) == labels[new]):.1%} of {len(new)} digits right")
    ours = scores[str(arguments.output)]
    same = np.mean(scores["binary"].argmax(1) == ours.argmax(1))
    print(f"the same digit in {same:.1%}; {sizes['binary']} bytes, in float {sizes['float']}")
    print(file.report)


if __name__ == "__main__":
    main()
