"""Waiting for what another process does, for so many seconds at most."""

import sys
import time


def until(condition, seconds, failure):
    """What `condition` returns once that is true; ends the program with the sentence if it never is.
    The other end tells nobody when it is: so it is asked twenty times a second."""
    limit = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > limit:
            sys.exit(failure)
        time.sleep(0.05)
    return result
