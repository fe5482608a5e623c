"""An agent from outside that plays the last legal action, and does once what its argument says, such as "hangs".

It does so at its third decision in all; "hangs:first" at its first decision, "hangs:later" at the first one
of its second game, "hangs:game" when its second game begins, "hangs:result" when its first one ends. What
hangs or is late says so on standard error first.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any

HANGS = "it hangs now"


def say(message: Any) -> None:
    print(json.dumps(message), flush=True)


def misbehave(how: str) -> None:
    match how:
        case "hangs" | "late":
            print(HANGS, file=sys.stderr, flush=True)
            time.sleep(10_000 if how == "hangs" else 60)
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
            print((json.dumps({"type": "action", "action": 0}) + "\n") * 1000, end="", flush=True)
        case "deaf":
            os.close(0)
            time.sleep(10_000)


def forgetful(how: str, games: int, decisions: int, n: int) -> int:
    """The place of an action that rests on more than the view and the seed."""
    match how:
        case "clock":
            return time.time_ns() // 1000 % n
        case "dice":
            return os.urandom(1)[0] % n
        case "process":
            return os.getpid() % n
        case "games":
            return games % n
        case "decisions":
            return decisions % n
    return n - 1


def main(how: str) -> None:
    how, _, when = how.partition(":")
    decisions = games = own = 0
    if how == "orphans":
        for words in (["sleep", "7777"], ["env", "-i", "sleep", "7777"]):
            subprocess.run(["sh", "-c", f"setsid {' '.join(words)} > /dev/null 2>&1 &"], check=True)
    if how == "children":
        subprocess.Popen(["sleep", "7777"], start_new_session=True)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "hello", "protocol": 99 if how == "another" else 1, "name": how})
        elif message["type"] == "decide":
            decisions, own = decisions + 1, own + 1
            if how == "errors":
                sys.stderr.write("e" * 10**6)
            now = {"": decisions == 3, "first": decisions == 1, "later": (games, own) == (2, 1)}
            if now.get(when):
                misbehave(how)
            place = forgetful(how, games, decisions, len(message["legal"]))
            say({"type": "action", "action": place})
            if how == "last" and decisions == 3:
                sys.exit()
        elif message["type"] == "new game":
            games, own = games + 1, 0
            if when == "game" and games == 2:
                misbehave(how)
        elif when == "result" and games == 1:
            misbehave(how)
        elif how == "leaves":
            sys.exit()
        elif how == "chats":
            print("well played!", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
