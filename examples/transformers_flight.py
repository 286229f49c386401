"""A training with Hugging Face's Trainer under the flight recorder: a weight becomes NaN, and its dump.

python examples/transformers_flight.py --out runs/flight
mindinsight start --summary-base-dir runs
"""

import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

from mindinsight.writer.integrations.transformers import FlightRecorderCallback, MindInsightCallback


class Breakage(TrainerCallback):
    """Makes a weight NaN before step 10."""

    def on_step_begin(self, args, state, control, model=None, **given):
        if state.global_step == 10:
            with torch.no_grad():
                model.transformer.h[0].mlp.c_fc.weight[0, 0] = float("nan")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs/flight")
    out = parser.parse_args().out
    size = {"n_layer": 1, "n_head": 2, "n_embd": 32, "n_positions": 16}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, bos_token_id=0, eos_token_id=0, **size))
    texts = [{"input_ids": row, "labels": row} for row in torch.randint(0, 50, (96, 16))]
    quiet = {"report_to": "none", "save_strategy": "no", "disable_tqdm": True, "use_cpu": True}
    arguments = TrainingArguments(out, num_train_epochs=1, logging_steps=1, **quiet)
    recorder = FlightRecorderCallback(log_dir=out, dumps=1, check_every=5)
    callbacks = [Breakage(), recorder, MindInsightCallback(log_dir=out)]
    Trainer(model, arguments, train_dataset=texts, callbacks=callbacks).train()
