"""Settings of all tests."""

from hypothesis import settings

from tests.thoroughness import amount

# How long an example takes says more about what else the machine is doing than about the code.
settings.register_profile("here", deadline=None, max_examples=amount(100, 30))
settings.register_profile("quick", deadline=None, max_examples=15)  # make quick
settings.load_profile("here")
