"""Decoders of the payload messages of event files.

All raise UnreadableError with the reason ``payload.unparsable`` if the bytes are not the message.
"""
