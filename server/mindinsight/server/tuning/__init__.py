"""Hyper-parameter tuning: studies of trials, each a training process, with Optuna choosing the parameters."""
