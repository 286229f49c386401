"""Thirty-two healthy trainings of PyTorch under the flight recorder with its defaults: none gives an alert.

``python tests/interop/healthy_in_torch.py [--steps N] [--only NAME]`` with a Python that has torch.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from planted_in_torch import alerts
from torch import nn
from torch.nn import functional as F

from mindinsight.writer import FlightRecorder

STEPS = 2000
Batch = Callable[[int], torch.Tensor]
TRAININGS: dict[str, Callable[[], Any]] = {}  # network, optimizer, loss of a step, and the GradScaler of some


def training(make: Any) -> Any:
    """A function that returns a network, its optimizer and the loss of a step."""
    TRAININGS[make.__name__] = make
    return make


def regression(model: nn.Module, width: int = 8, out: int = 1) -> Callable[[int], torch.Tensor]:
    teacher = nn.Sequential(nn.Linear(width, 16), nn.Tanh(), nn.Linear(16, out)).requires_grad_(False)

    def loss(step: int) -> torch.Tensor:
        x = torch.randn(32, width)
        return F.mse_loss(model(x), teacher(x))

    return loss


def mlp(*layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), *layers, nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))


@training
def plain_sgd() -> Any:
    model = mlp()
    return model, torch.optim.SGD(model.parameters(), 0.05), regression(model)


@training
def adam_that_converges_to_nothing() -> Any:
    """A linear target that is fitted exactly: losses fall by ten orders of magnitude, and jitter there."""
    model = nn.Linear(8, 1)
    teacher = torch.randn(8, 1)

    def loss(step: int) -> torch.Tensor:
        x = torch.randn(32, 8)
        return F.mse_loss(model(x), x @ teacher)

    return model, torch.optim.Adam(model.parameters(), 0.02), loss


@training
def dropout_and_warmup() -> Any:
    model = mlp(nn.Dropout(0.5))
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / 200))
    measure = regression(model)

    def loss(step: int) -> torch.Tensor:
        if step:
            scheduler.step()
        return measure(step)

    return model, optimizer, loss


@training
def convolution_with_normalisation() -> Any:
    model = nn.Sequential(
        *[nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.ReLU()],
        *[nn.Flatten(), nn.Linear(8 * 9, 4)],
    )
    patterns = torch.randn(4, 1, 12, 12)

    def loss(step: int) -> torch.Tensor:
        y = torch.randint(4, (16,))
        return F.cross_entropy(model(patterns[y] + torch.randn(16, 1, 12, 12)), y)

    return model, torch.optim.SGD(model.parameters(), 0.05, momentum=0.9), loss


class Language(nn.Module):
    """Embedding, encoder and head over a Markov chain of 16 symbols."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.embedding, self.body, self.head = nn.Embedding(16, 32), body, nn.Linear(32, 16)
        self.chain = torch.softmax(2 * torch.randn(16, 16), -1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        out = self.body(self.embedding(tokens))
        return self.head(out[0] if isinstance(out, tuple) else out)

    def loss(self, step: int) -> torch.Tensor:
        tokens = [torch.randint(16, (8,))]
        for _ in range(12):
            tokens.append(torch.multinomial(self.chain[tokens[-1]], 1)[:, 0])
        text = torch.stack(tokens, 1)
        return F.cross_entropy(self(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())


class Causal(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.encoder(x, mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1]))


@training
def transformer() -> Any:
    model = Language(Causal())
    return model, torch.optim.AdamW(model.parameters(), 1e-3), model.loss


@training
def transformer_in_bfloat16() -> Any:
    model = Language(Causal())

    def loss(step: int) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return model.loss(step).float()

    return model, torch.optim.AdamW(model.parameters(), 1e-3), loss


@training
def recurrent_without_clipping() -> Any:
    model = Language(nn.RNN(32, 32, batch_first=True))
    return model, torch.optim.SGD(model.parameters(), 0.5), model.loss


@training
def lstm_with_clipping() -> Any:
    model = Language(nn.LSTM(32, 32, 2, batch_first=True))
    return model, torch.optim.Adam(model.parameters(), 1e-2), model.loss


@training
def adversarial() -> Any:
    """Generator and discriminator in turns, in one recorder; gradients are set to zero, not to None."""
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    model = nn.ModuleDict({"g": generator, "d": discriminator})

    def loss(step: int) -> torch.Tensor:
        fake = generator(torch.randn(32, 4))
        if step % 2:
            return F.softplus(-discriminator(fake)).mean()
        real = torch.randn(32, 2) * 0.2 + torch.randint(-1, 2, (32, 1))
        return (F.softplus(discriminator(fake.detach())) + F.softplus(-discriminator(real))).mean()

    return model, torch.optim.Adam(model.parameters(), 1e-3, betas=(0.5, 0.9)), loss


@training
def accumulated_gradients() -> Any:
    model = mlp()
    return model, torch.optim.SGD(model.parameters(), 0.005), regression(model)


@training
def layers_frozen_and_thawed() -> Any:
    model = mlp()
    measure = regression(model)

    def loss(step: int) -> torch.Tensor:
        for parameter in model[0].parameters():
            parameter.requires_grad_(step % 500 < 250)
        return measure(step)

    return model, torch.optim.Adam(model.parameters(), 1e-3), loss


@training
def sparse_relu() -> Any:
    """Nine in ten units are off, and some for good."""
    model = nn.Sequential(nn.Linear(8, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1))
    with torch.no_grad():
        model[0].bias.sub_(1.0)
        model[2].bias.sub_(0.2)

    measure = regression(model)

    def loss(step: int) -> torch.Tensor:
        return measure(step) + 1e-4 * model[1](model[0](torch.randn(32, 8))).abs().mean()

    return model, torch.optim.Adam(model.parameters(), 3e-3), loss


class Residual(nn.Module):
    """Blocks that are left out at random, with a last layer of zeros."""

    def __init__(self, drop: float) -> None:
        super().__init__()
        self.begin, self.end, self.drop = nn.Linear(8, 16), nn.Linear(16, 1), drop
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(6)
        )
        for block in self.blocks:
            nn.init.zeros_(block[-1].weight)
            nn.init.zeros_(block[-1].bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.begin(x)
        for block in self.blocks:
            x = x + block(x) * float(torch.rand(()) >= self.drop)
        return self.end(x)


@training
def stochastic_depth() -> Any:
    model = Residual(0.3)
    return model, torch.optim.AdamW(model.parameters(), 1e-3), regression(model)


@training
def low_rank_adapters() -> Any:
    """A frozen network with two adapters, one factor of each zero at first."""

    class Adapted(nn.Module):
        def __init__(self, base: nn.Linear) -> None:
            super().__init__()
            self.base = base.requires_grad_(False)
            self.a, self.b = nn.Linear(base.in_features, 4, False), nn.Linear(4, base.out_features, False)
            nn.init.zeros_(self.b.weight)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.base(x) + self.b(self.a(x))

    model = nn.Sequential(Adapted(nn.Linear(8, 32)), nn.ReLU(), Adapted(nn.Linear(32, 1)))
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return model, torch.optim.Adam(weights, 1e-3), regression(model)


@training
def mixture_of_experts() -> Any:
    """Each batch goes to the expert of its first feature; the others get no gradient, or one of zeros."""

    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.experts = nn.ModuleList(nn.Linear(8, 1) for _ in range(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            chosen = (x[:, :1].abs() * 2).long().clamp(max=3)
            return torch.cat([expert(x) * (chosen == n) for n, expert in enumerate(self.experts)], 1).sum(1)

    model = Experts()
    teacher = torch.randn(8)

    def loss(step: int) -> torch.Tensor:
        x = torch.randn(8, 8)
        return F.mse_loss(model(x), (x @ teacher).tanh())

    return model, torch.optim.SGD(model.parameters(), 0.05), loss


@training
def triplets_until_none_is_left() -> Any:
    """A hinge as a module, whose output is zero for all once the classes are apart."""
    model = nn.ModuleDict({"net": nn.Linear(2, 2), "hinge": nn.ReLU()})

    def loss(step: int) -> torch.Tensor:
        near, far = torch.randn(3, 16, 2) * 0.1, torch.randn(16, 2) * 0.1 + 3
        anchor, positive, negative = (model["net"](points) for points in (near[0], near[1], far))
        distances = (anchor - positive).norm(dim=1) - (anchor - negative).norm(dim=1)
        return model["hinge"](distances + 0.5).mean()

    return model, torch.optim.SGD(model.parameters(), 0.1), loss


@training
def autoencoder_with_annealed_divergence() -> Any:
    encoder, decoder = nn.Linear(8, 8), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
    model = nn.ModuleDict({"encoder": encoder, "decoder": decoder})
    basis = torch.randn(3, 8)

    def loss(step: int) -> torch.Tensor:
        x = torch.randn(32, 3) @ basis
        mean, spread = encoder(x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * (spread / 2).exp()
        divergence = -0.5 * (1 + spread - mean**2 - spread.exp()).mean()
        return F.mse_loss(decoder(z), x) + min(step / 500, 1) * 0.1 * divergence

    return model, torch.optim.Adam(model.parameters(), 2e-3), loss


@training
def policy_gradient() -> Any:
    """A loss around zero of both signs, with the variance of a bandit."""
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 4))

    def loss(step: int) -> torch.Tensor:
        x = torch.randn(16, 4)
        policy = torch.distributions.Categorical(logits=model(x))
        action = policy.sample()
        reward = (action == x.argmax(1)).float() + 0.3 * torch.randn(16)
        return -(policy.log_prob(action) * (reward - reward.mean())).mean()

    return model, torch.optim.Adam(model.parameters(), 1e-3), loss


@training
def rate_that_restarts() -> Any:
    model = mlp(nn.BatchNorm1d(32))
    optimizer = torch.optim.SGD(model.parameters(), 0.2, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 200)
    measure = regression(model)

    def loss(step: int) -> torch.Tensor:
        if step:
            scheduler.step()
        return measure(step)

    return model, optimizer, loss


@training
def deep_sigmoid_plateau() -> Any:
    """Gradients that vanish at first and grow by orders of magnitude when the plateau is left."""
    layers = [module for _ in range(4) for module in (nn.Linear(16, 16), nn.Sigmoid())]
    model = nn.Sequential(nn.Linear(8, 16), nn.Sigmoid(), *layers, nn.Linear(16, 1))
    return model, torch.optim.Adam(model.parameters(), 3e-3), regression(model)


@training
def nearly_everything_dropped() -> Any:
    model = mlp(nn.Dropout(0.9))
    return model, torch.optim.Adam(model.parameters(), 3e-3), regression(model)


@training
def wide_with_units_dead_at_the_start() -> Any:
    """Most units of the first layer give zeros from the first step on."""
    model = nn.Sequential(nn.Linear(8, 1024), nn.ReLU(), nn.Linear(1024, 1))
    nn.init.normal_(model[0].bias, -3, 1)
    return model, torch.optim.Adam(model.parameters(), 1e-3), regression(model)


@training
def tiny_with_a_large_rate() -> Any:
    """The first steps overshoot, and it converges."""
    model = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1))
    return model, torch.optim.SGD(model.parameters(), 0.9), regression(model)


@training
def smoothed_labels() -> Any:
    model, centres = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 6)), 3 * torch.randn(6, 8)

    def loss(step: int) -> torch.Tensor:
        y = torch.randint(6, (32,))
        return F.cross_entropy(model(centres[y] + torch.randn(32, 8)), y, label_smoothing=0.1)

    return model, torch.optim.Adam(model.parameters(), 3e-3), loss


@training
def averaged_teacher() -> Any:
    """A student and the average of its weights, which is another network without gradients."""
    student = mlp()
    teacher = torch.optim.swa_utils.AveragedModel(
        student, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99)
    )
    measure = regression(student)

    def loss(step: int) -> torch.Tensor:
        if step:
            teacher.update_parameters(student)
        x = torch.randn(32, 8)
        with torch.no_grad():
            wanted = teacher(x)
        return measure(step) + 0.1 * F.mse_loss(student(x), wanted)

    return nn.ModuleList([student, teacher]), torch.optim.Adam(student.parameters(), 3e-3), loss


@training
def targets_of_noise_under_decay() -> Any:
    """Nothing can be learned, and weights become small. With a decay of 1.0 layers die, which is told."""
    model = mlp()

    def loss(step: int) -> torch.Tensor:
        return F.mse_loss(model(torch.randn(32, 8)), torch.randn(32, 1))

    return model, torch.optim.AdamW(model.parameters(), 1e-2, weight_decay=0.1), loss


@training
def rate_of_zero_before_the_warmup() -> Any:
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, max(0, step - 100) / 200))
    measure = regression(model)

    def loss(step: int) -> torch.Tensor:
        if step:
            scheduler.step()
        return measure(step)

    return model, optimizer, loss


@training
def sparse_embeddings() -> Any:
    """Each batch has gradients for a few rows of 10,000."""
    model = nn.Sequential(nn.EmbeddingBag(10_000, 16, sparse=True), nn.ReLU(), nn.Linear(16, 1))
    truth = torch.randn(10_000)

    def loss(step: int) -> torch.Tensor:
        rows = (10_000 * torch.rand(32, 5) ** 3).long()
        return F.mse_loss(model(rows)[:, 0], truth[rows].mean(1))

    return model, torch.optim.SGD(model.parameters(), 0.5), loss


@training
def loss_that_is_scaled_by_hand() -> Any:
    """The scale of the loss doubles every 400 steps, and the gradients with it."""
    model = mlp()
    measure, optimizer = regression(model), torch.optim.Adam(model.parameters(), 3e-3)
    return model, optimizer, lambda step: 2.0 ** (step // 400) * measure(step)


@training
def margin_that_is_satisfied() -> Any:
    """A hinge loss that becomes zero for most batches."""
    model, centres = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), 4 * torch.randn(4, 8)

    def loss(step: int) -> torch.Tensor:
        y = torch.randint(4, (16,))
        return F.multi_margin_loss(model(centres[y] + torch.randn(16, 8)), y)

    return model, torch.optim.SGD(model.parameters(), 0.1), loss


class Regression(nn.Module):
    """MLP whose forward runs in mixed precision on the CPU, and its loss."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.body, self.dtype = mlp(), dtype
        self.measure = regression(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", self.dtype):
            return self.body(x).float()


@training
def scaled_in_float16() -> Any:
    """The scale starts too large and doubles every 40 steps until gradients overflow: steps are skipped."""
    model = Regression(torch.float16)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=40)
    return model, torch.optim.SGD(model.parameters(), 0.05), model.measure, scaler


@training
def scaled_in_bfloat16() -> Any:
    """Nothing overflows in bfloat16 before the scale itself does."""
    model = Regression(torch.bfloat16)
    scaler = torch.amp.GradScaler("cpu", growth_interval=10)
    return model, torch.optim.SGD(model.parameters(), 0.05), model.measure, scaler


def clipped(name: str, model: nn.Module) -> None:
    if name in ("lstm_with_clipping", "transformer"):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def train(name: str, steps: int, folder: Path) -> list[Any]:
    """Train with the recorder, and return its alerts."""
    torch.manual_seed(0)
    model, optimizer, measure, *scalers = TRAININGS[name]()
    scaler = scalers[0] if scalers else torch.amp.GradScaler("cpu", enabled=False)
    skipped = 0
    every = 8 if name == "accumulated_gradients" else 1
    with FlightRecorder(model, folder, optimizer, scaler=scaler) as recorder:
        for number in range(steps):

            def step(number: int = number) -> torch.Tensor:
                if number % every == 0:
                    optimizer.zero_grad(set_to_none=name not in ("adversarial", "layers_frozen_and_thawed"))
                loss = measure(number)
                scaler.scale(loss).backward()
                return loss

            recorder.step(step)
            clipped(name, model)
            if number % every == every - 1:
                before = scaler.get_scale()
                scaler.step(optimizer)
                scaler.update()
                skipped += scaler.get_scale() < before
    if name == "scaled_in_float16":
        assert skipped > 10 or steps < STEPS, skipped
    if scalers:
        print(f"{skipped} steps skipped, scale {scaler.get_scale():g}")
    return alerts(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--only")
    options = parser.parse_args()
    torch.set_num_threads(1)
    wrong: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as base:
        for name in [options.only] if options.only else TRAININGS:
            begin = time.process_time()
            raised = train(name, options.steps, Path(base) / name)
            print(
                f"{name}: {len(raised)} alerts in {options.steps} steps, {time.process_time() - begin:.0f} s",
                flush=True,
            )
            wrong |= {name: [alert.text for alert in raised]} if raised else {}
    assert not wrong, wrong
    print(
        json.dumps({"healthy trainings in torch": torch.__version__, "trainings": len(TRAININGS), "ok": True})
    )


if __name__ == "__main__":
    main()
