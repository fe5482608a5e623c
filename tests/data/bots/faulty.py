"""An outside agent that plays the last legal action, and on its third decision does what its argument says."""

import json
import os
import subprocess
import sys
import time
from typing import Any


def say(message: Any) -> None:
    print(json.dumps(message), flush=True)


def misbehave(how: str) -> None:
    match how:
        case "hangs" | "late":
            time.sleep(1000 if how == "hangs" else 1.5)
        case "ends":
            sys.exit(3)
        case "raises":
            raise ZeroDivisionError("on purpose")
        case "lies":
            say({"type": "action", "action": "play 99"})
        case "beyond":
            say({"type": "action", "action": 10**6})
        case "nothing":
            say({"type": "action"})
        case "text":
            print("hello?", flush=True)
        case "list":
            say([1])
        case "bytes":
            sys.stdout.buffer.write(b"\xff\xfe\n")
            sys.stdout.flush()
        case "deep":
            print("[" * 60_000, flush=True)
        case "long":
            print("x" * 10**6, flush=True)
        case "floods":
            while True:
                print("x" * 1000)
        case "unasked":
            for _ in range(1000):
                say({"type": "action", "action": 0})
        case "deaf":
            os.close(0)
            time.sleep(1000)


def main(how: str) -> None:
    if how == "mute":
        time.sleep(1000)
    decisions = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "hello", "protocol": 99 if how == "another" else 1, "name": how})
        elif message["type"] == "decide":
            decisions += 1
            if how == "children":
                subprocess.Popen(["sleep", "7777"], start_new_session=True)
            if how == "errors":
                sys.stderr.write("e" * 10**6)
            if decisions == 3:
                misbehave(how)
            say({"type": "action", "action": len(message["legal"]) - 1})


if __name__ == "__main__":
    main(sys.argv[1])
