"""`python -m mindinsight`: the command line where its script is not on the PATH."""

import sys

from mindinsight.server.commands.main import main

sys.exit(main())
