"""Settings of all tests."""

from hypothesis import settings

# How long an example takes says more about what else the machine is doing than about the code.
settings.register_profile("here", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=15)  # make quick; make test takes 100
settings.load_profile("here")
