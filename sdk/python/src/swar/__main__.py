"""``python -m swar say TEXT``: speaks into a file, or plays."""

from __future__ import annotations

import argparse
import sys

from . import Swar, SwarError
from ._core import Format


def main() -> int:
    p = argparse.ArgumentParser(prog="python -m swar", description="Hinglish speech from a Swar server")
    say = p.add_subparsers(dest="command", required=True).add_parser("say", help="speak a text")
    say.add_argument("text", nargs="+")
    say.add_argument("-o", "--output", help="write this file (.wav, .opus, .pcm) instead of playing")
    say.add_argument("--voice")
    say.add_argument("--seed", type=int)
    say.add_argument("--server", help="default $SWAR_SERVER")
    say.add_argument("--key", help="default $SWAR_KEY")
    a = p.parse_args()
    name = (a.output or "").lower()
    form: Format = "opus" if name.endswith((".opus", ".ogg")) else "pcm16" if name.endswith((".pcm", ".raw")) else "wav"
    try:
        with Swar(a.server, a.key) as s, s.speak(" ".join(a.text), voice=a.voice, seed=a.seed, format=form) as take:
            if a.output:
                print(f"{take.save(a.output)}: voice {take.voice}, seed {take.seed}", file=sys.stderr)
            else:
                take.play()
    except ImportError:
        print("to play, install sounddevice: pip install sounddevice; or write a file with -o", file=sys.stderr)
        return 1
    except (SwarError, OSError, ValueError) as e:
        print(f"swar: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
