"""``python -m ptx_toolkit`` is ``ptx-cli``."""

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())
