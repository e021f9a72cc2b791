"""What every adapter does: answer --name, or read one message a line and write one line for each."""

import sys


def serve(name, read):
    if sys.argv[1:] == ["--name"]:
        print(name)
        return
    failed = {}
    for line in sys.stdin:
        message = line.rstrip("\n")
        try:
            spoken = read(message)
        except Exception as err:  # a message that it cannot read stays as it is
            spoken = message
            failed[type(err).__name__] = failed.get(type(err).__name__, 0) + 1
        print(" ".join(spoken.split()), flush=True)
    for err, messages in failed.items():
        print(f"{name}: {err} at {messages} messages, which stay as they are written", file=sys.stderr)


def devanagari(text):
    """Whether more letters of a text are Devanagari than Latin."""
    hindi = sum("\u0900" <= c <= "\u097f" for c in text)
    return hindi > sum(c.isascii() and c.isalpha() for c in text)
