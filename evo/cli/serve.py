"""The command that shows runs in a browser: serve."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from evo.cli import completion
from evo.cli.options import AllowAgent

LOOPBACK = ("127.0.0.1", "localhost", "::1")

Root = Annotated[
    Path, typer.Argument(metavar="RUNS", help="The folder with runs and tournaments.", show_default=True)
]
Opponents = Annotated[
    list[str] | None,
    typer.Option(
        "--opponent",
        metavar="ENTRANT",
        help="Another agent to play against, with --play; may repeat.",
        autocompletion=completion.entrants,
    ),
]


def serve_command(
    root: Root = Path("runs"),
    host: str = typer.Option(
        "127.0.0.1", help="Address to listen on, of this machine alone unless another is said."
    ),
    port: int = typer.Option(8000, min=0, max=65_535, help="0: any that is free."),
    play: bool = typer.Option(
        False, "--play", help="Also play against agents: shipped ones, and the champions of RUNS."
    ),
    opponents: Opponents = None,
    _agents: AllowAgent = None,
) -> None:
    """Show runs, tournaments and games in a browser, as they grow; it changes nothing on the disk.

    The printed address holds a token, without which nothing is answered.
    """
    import socket

    from engine.errors import WrongValueError
    from evo.cli.consoles import output_console
    from evo.play.entrants import find_entrant
    from evo.serving.app import make_app, make_server

    if not root.is_dir():
        raise WrongValueError(f"{root} is no folder; manaforge evolve quickstart makes one with a run")
    if not host:
        raise WrongValueError("--host needs an address, such as 0.0.0.0 for all of this machine's")
    if opponents and not play:
        raise WrongValueError("--opponent names whom to play against: with --play")
    for text in opponents or ():
        find_entrant(text)
    token = secrets.token_urlsafe(24)
    names = frozenset(LOOPBACK) if host in LOOPBACK else frozenset()
    app = make_app(root, token, names, (opponents or []) if play else None)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # who reads the address may ask at once
    except (OSError, UnicodeError) as error:
        listener.close()
        said = getattr(error, "strerror", None) or error
        raise WrongValueError(
            f"cannot listen on {host}, port {port}: {said}; choose another --port"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/?token={token}"
    output_console().print(f"showing {root} at {address}; Ctrl-C ends it", markup=False, soft_wrap=True)
    with listener:
        make_server(app).run([listener])
