import sys

from bookext.lint import main

sys.exit(main())
