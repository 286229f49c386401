"""Hugging Face Transformers: a callback for the Trainer.

python transformers_train.py
mindinsight start --summary-base-dir runs
"""

import argparse

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from mindinsight.writer.integrations.transformers import MindInsightCallback


def samples(count):
    tokens = torch.randint(5, 50, (count, 12))
    return [{"input_ids": row, "labels": int(row.sum() % 2)} for row in tokens]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", default="runs/transformers")
    chosen = options.parse_args()
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = BertForSequenceClassification(BertConfig(vocab_size=50, **sizes))
    arguments = TrainingArguments(
        f"{chosen.out}/checkpoints", num_train_epochs=2, logging_steps=4, eval_strategy="epoch",
        save_strategy="epoch", report_to="none", use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    recording = MindInsightCallback(chosen.out, weights_every=16, gradients_every=16)
    Trainer(
        model, arguments, train_dataset=samples(128), eval_dataset=samples(32), callbacks=[recording]
    ).train()


if __name__ == "__main__":
    main()
