"""A build keeps what it makes: Python looks for lost cycles seldom.

The nodes of all pages and their links to each other live until the end of a build. Python's
collector goes through them again and again and finds next to nothing to free.
"""

import gc

#: New objects until Python looks at them; Python's own number is 700.
NEW = 200_000


def setup(app):
    gc.freeze()  # the modules that are imported by now
    gc.set_threshold(NEW, 20, 100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
