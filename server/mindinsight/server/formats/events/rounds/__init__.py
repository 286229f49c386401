"""Decoder of rounds: stretches of records that repeat, read as the columns of one model."""
