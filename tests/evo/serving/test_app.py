"""The server over HTTP: what it shows is what the tables say, and strangers are refused."""

import html
import json
import os
import shutil
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import numpy as np
import pandas as pd
import pytest

from evo.analysis.listing import run_row
from evo.analysis.tables import best_individuals, last_population, read_runs, shares_of, wins_by_decks
from evo.api import play_tournament
from evo.serving import folders
from evo.serving.folders import RUN_MARKER, Catalogue
from evo.serving.guard import CONTENT_SECURITY_POLICY, COOKIE_PREFIX
from evo.serving.runs import run_numbers
from tests.evo.serving.servers import TOKEN, served
from tests.waiting import Clock, wait_until

EXAMPLE = Path("tests/data/run").resolve()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with an example run, an empty one, a damaged one, and one of an evil name."""
    root = tmp_path / "runs"
    shutil.copytree(EXAMPLE, root / "example")
    shutil.copytree(EXAMPLE, root / "study" / "00")
    shutil.copytree(EXAMPLE, root / "<img src=x onerror=alert(1)>")
    (root / "broken").mkdir()
    (root / "broken" / "config.toml").write_text("schema = [")
    (tmp_path / "secret").mkdir()
    shutil.copytree(EXAMPLE, tmp_path / "secret" / "run")
    (root / "out").symlink_to(tmp_path / "secret" / "run")
    (root / "alias").symlink_to(root / "example")
    (root / "linked").mkdir()
    for entry in (tmp_path / "secret" / "run").iterdir():
        (root / "linked" / entry.name).symlink_to(entry)
    shutil.copytree(EXAMPLE, root / "half")
    shutil.rmtree(root / "half" / "generations")
    (root / "half" / "generations").symlink_to(tmp_path / "secret" / "run" / "generations")
    with suppress(OSError):  # not every file system has such names
        shutil.copytree(EXAMPLE, root / os.fsdecode(b"\xff\xfe"))
    return root


def test_the_list_names_every_run_and_what_is_wrong(runs: Path) -> None:
    with served(runs) as asked:
        status, headers, body = asked.get("/")
        while b"not read yet" in body:
            status, headers, body = asked.get("/")
    text = body.decode()
    assert status == 200
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "<script>" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "<img" not in text
    assert "study/00" in text
    assert "unreadable" in text
    assert 'href="/run/out"' not in text


def test_numbers_are_those_of_the_tables(runs: Path) -> None:
    with served(runs) as asked:
        status, _, body = asked.get("/numbers/example")
    numbers = json.loads(body)
    assert status == 200
    found = read_runs([runs / "example"])
    own = found.individuals
    last = own[own["generation"] == own["generation"].max()]
    survivors = last[last["survived"]]
    for place, column in enumerate(shares_of(own)):
        quartiles = [values[-1] for values in numbers["weights"]["quartiles"][place]]
        assert quartiles == pytest.approx(np.quantile(survivors[column], (0, 0.25, 0.5, 0.75, 1)))
    best = best_individuals(own)
    for name, column in zip(numbers["weights"]["names"], shares_of(own), strict=True):
        assert numbers["weights"]["best"][name] == pytest.approx(best[column].to_list())
    assert numbers["generation"] == int(own["generation"].max())
    decks = numbers["decks"]["names"]
    scores = wins_by_decks(last_population(own), decks)
    assert numbers["decks"]["scores"] == [pytest.approx(scores.loc[deck].to_list()) for deck in decks]
    birth = pd.Series([node["birth"] for node in numbers["lineage"]])
    assert birth.is_monotonic_increasing
    assert {parent for node in numbers["lineage"] for parent in node["parents"]} <= {
        node["individual"] for node in numbers["lineage"]
    }


@pytest.mark.parametrize(
    "path",
    [
        "/run/out",
        "/run/alias",
        "/run/./example",
        "/run/example/",
        "/run//example",
        "/run/study//00",
        "/run/study/../example",
        "/compare?run=./example",
        "/numbers/linked",
        "/run/half",
        "/numbers/out",
        "/run/../secret/run",
        "/numbers/..%2Fsecret%2Frun",
        "/run/%2Fetc",
        "/numbers/example%00",
        "/static/../app.py",
        "/static/..%2Fapp.py",
        "/board/../page.py",
        f"/run/{quote('x' * 5000)}",
        "/nix",
    ],
)
def test_nothing_outside_the_folder_is_shown(runs: Path, path: str) -> None:
    with served(runs) as asked:
        assert asked.get(path)[0] == 404


def test_no_page_tells_where_the_folder_lies(runs: Path) -> None:
    (runs / "games").mkdir()
    (runs / "games" / "tournament.json").write_text("{")
    last = max((runs / "study" / "00" / "generations").iterdir())
    last.write_bytes(last.read_bytes()[:100])
    with served(runs, opponents=[]) as asked:
        for path in (f"{runs}/example", f"/{runs}/example", f"x{runs}/y", f"example{runs}"):
            status, _, body = asked.get(f"/run/{path}")
            assert (status, f"There is no run {path} here".encode() in body) == (404, True)
        for path in (
            *("/", "/play", "/run/broken", "/numbers/broken", "/numbers/study/00", "/compare?run=broken"),
            *("/tournament/games", "/standings/games", "/games/games", "/game/0/games"),
        ):
            said = asked.get(path)[2].decode()
            assert str(runs) not in said
        assert "0014" in str(json.loads(asked.get("/numbers/study/00")[2])["problems"])
        assert "games/tournament.json is damaged" in asked.get("/tournament/games")[2].decode()


REQUESTS = {
    "half of what is posted": "POST /play HTTP/1.1\r\n{own}Content-Length: 100\r\n\r\nopponent=",
    "a broken part of what is posted": "POST /play HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "many, whose answers nobody reads": "GET /static/plotly-cartesian.min.js HTTP/1.1\r\n{own}\r\n" * 9,
    "half a request": "GET / HTTP/1.1\r\nHos",
    "another protocol": "\x16\x03\x01\x02",
    "a socket": "GET / HTTP/1.1\r\n{own}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "names that no file has": "GET /static/%00 HTTP/1.1\r\n{own}\r\nGET /run/%ed%a0%80%00 HTTP/1.1\r\n{own}\r\n",
    "two hosts": "GET / HTTP/1.1\r\n{own}Host: evil.example\r\n\r\n",
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("leaves_at_once", [True, False])
def test_nothing_that_a_client_does_puts_a_traceback_on_the_terminal(
    runs: Path, request_: str, leaves_at_once: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    with served(runs, opponents=[]) as asked:
        own = f"Host: 127.0.0.1:{asked.port}\r\nCookie: {asked.cookie}\r\nOrigin: {asked.address}\r\n"
        with socket.create_connection(("127.0.0.1", asked.port)) as link:
            link.sendall(request_.format(own=own).encode("latin-1"))
            if leaves_at_once:  # without a farewell
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                link.shutdown(socket.SHUT_WR)
                while link.recv(2**16):
                    pass
        assert asked.get("/")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_it_only_shows(runs: Path, method: str) -> None:
    with served(runs) as asked:
        assert asked.get("/", method)[0] == 405


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Host": "[::1].evil.example"},
        {"Host": "[::1]evil.example"},
        {"Host": "localhost:80.evil.example"},
        {"Host": "user@localhost"},
        {"Host": "localhost/evil.example"},
        {"Host": "localhost, evil.example"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
        {"Origin": "http://["},
    ],
)
def test_other_origins_and_names_are_refused(runs: Path, headers: dict[str, str]) -> None:
    with served(runs) as asked:
        assert asked.get("/numbers/example", **headers)[0] == 403
        own = {"Origin": f"http://127.0.0.1:{asked.port}", "Sec_Fetch_Site": "same-origin"}
        assert asked.get("/numbers/example", **own)[0] == 200


def test_every_request_needs_the_token(runs: Path) -> None:
    with served(runs) as asked:
        for path, cookie in (
            ("/", ""),
            ("/?token=wrong", ""),
            ("/", f"{COOKIE_PREFIX}_{asked.port}=wrong"),
            ("/static/app.js", ""),
        ):
            assert asked.get(path, Cookie=cookie)[0] == 403
        status, headers, _ = asked.get(f"/compare?run=example&token={TOKEN}&run=x", Cookie="")
        assert (status, headers["location"]) == (303, "/compare?run=example&run=x")
        assert headers["set-cookie"].startswith(f"{asked.cookie}; HttpOnly")
        assert "SameSite=strict" in headers["set-cookie"]
        assert asked.get("/numbers/example")[0] == 200
        for others in ('theme={"a": 1}', "list[0]=a", "name=J\xf6rg", "a", "=", f"{COOKIE_PREFIX}_1=x"):
            for cookie in (f"{others}; {asked.cookie}", f"{asked.cookie}; {others}"):
                assert asked.get("/numbers/example", Cookie=cookie)[0] == 200, (
                    "other programs set cookies too"
                )


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "///evil.example", "/%2Fevil.example", "/%5C/evil.example", "/\\evil.example/"],
)
def test_the_token_leads_to_no_other_server(tmp_path: Path, path: str) -> None:
    with served(tmp_path) as asked:
        status, headers, _ = asked.get(f"{path}?token={TOKEN}", Cookie="")
        led = urljoin(f"{asked.address}/", headers["location"].replace("\\", "/"))
        assert (status, led.rstrip("/")) == (303, f"{asked.address}/evil.example")


def test_runs_that_are_damaged_or_deleted_meanwhile_are_told(runs: Path) -> None:
    run = runs / "example"
    with served(runs) as asked:
        assert "unreadable" not in json.loads(asked.get("/numbers/example")[2])
        last = max((run / "generations").iterdir())
        last.write_bytes(last.read_bytes()[:100])
        status, _, body = asked.get("/numbers/example")
        assert status == 200
        told = json.loads(body)
        assert told.get("unreadable") or told["problems"]
        (run / "config.toml").write_text("seed = ")
        assert "unreadable" in json.loads(asked.get("/numbers/example")[2])
        shutil.rmtree(run)
        status, _, body = asked.get("/numbers/example")
        assert status == 404
        assert json.loads(body)["unreadable"]
        assert asked.get("/")[0] == 200


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lethal = ", "lethal = inf #"),
        ("win_rate = ", "win_rate = 1979-05-27 #"),
        ("candidate = ", 'candidate = "individual \u00b2" #'),
        ("win_rate = ", "win_rate = nan #"),
    ],
)
def test_a_strangers_champion_is_shown_as_far_as_it_goes(runs: Path, before: str, after: str) -> None:
    file = runs / "example" / "champion.toml"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    with served(runs) as asked:
        status, _, body = asked.get("/numbers/example")
        assert status == 200
        json.loads(body, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert asked.get("/")[0] == 200


def test_a_run_before_its_first_generation_has_a_page(runs: Path) -> None:
    run = runs / "example"
    for folder in ("generations", "pairings", "validation"):
        shutil.rmtree(run / folder, ignore_errors=True)
    for name in ("champion.toml", "final.parquet", "checksums.txt"):
        (run / name).unlink(missing_ok=True)
    numbers = run_numbers(run)
    assert numbers["generation"] == -1
    assert "weights" not in numbers


@pytest.mark.parametrize("mark", [folders.RUN_MARKER, folders.TOURNAMENT_MARKER])
def test_a_folder_that_goes_while_it_is_read_ends_nothing(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / mark).write_text("{}")

    def going(path: Path) -> folders.Signature:
        shutil.rmtree(path)
        return folders.Signature()

    monkeypatch.setattr(folders, "signature_of", going)
    listed = Catalogue(tmp_path).listing()
    (row,) = (*listed.runs, *listed.tournaments)
    assert (row["state"], row["began"]) == ("unreadable", "")


def bare_runs(root: Path, count: int) -> None:
    """Runs before their first generation."""
    text = (EXAMPLE / "config.toml").read_text()
    for number in range(count):
        (root / f"{number:04d}").mkdir()
        (root / f"{number:04d}" / "config.toml").write_text(text)


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """By a clock of the test's own, reading a run takes a hundredth of the time that there is for all."""
    clock = Clock()

    def read(path: Path, name: str) -> dict[str, Any]:
        clock.now += folders.SECONDS_TO_READ / 100
        return run_row(path, name)

    monkeypatch.setattr(folders, "time", clock)
    monkeypatch.setattr(folders, "run_row", read)
    return clock


def test_a_thousand_runs_are_named_at_once_and_read_bit_by_bit(tmp_path: Path, slow_disk: Clock) -> None:
    bare_runs(tmp_path, 1000)
    catalogue, left = Catalogue(tmp_path), []
    while (not left or left[-1]) and len(left) < 20:
        listed = catalogue.new_listing()
        assert len(listed.runs) == 1000
        assert sum("generation" not in row for row in listed.runs) == listed.waiting
        left.append(listed.waiting)
    assert left == pytest.approx(range(900, -1, -100), abs=10)
    assert catalogue.find("0007", RUN_MARKER) == (tmp_path / "0007").resolve()


def test_a_folder_is_read_however_long_it_takes_to_look_at_the_others(
    tmp_path: Path, slow_disk: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at(path: Path) -> folders.Signature:
        slow_disk.now += 2 * folders.SECONDS_TO_READ
        return signature_of(path)

    signature_of = folders.signature_of
    monkeypatch.setattr(folders, "signature_of", looked_at)
    bare_runs(tmp_path, 5)
    catalogue = Catalogue(tmp_path)
    assert [catalogue.new_listing().waiting for _ in range(5)] == [4, 3, 2, 1, 0]


def test_one_look_at_all_folders_serves_all_who_ask_for_ten_times_as_long_as_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_runs(tmp_path, 3)
    clock, looks, catalogue = Clock(), [], Catalogue(tmp_path)
    monkeypatch.setattr(folders, "time", clock)

    def looked_at(path: Path) -> folders.Signature:
        clock.now += 1
        looks.append(path)
        return signature_of(path)

    signature_of = folders.signature_of
    monkeypatch.setattr(folders, "signature_of", looked_at)
    first = catalogue.listing()
    for seconds, n in ((0, 3), (29.9, 3), (0.2, 6), (29.9, 6)):
        clock.now += seconds
        assert (catalogue.listing() is first) == (n == 3)
        assert len(looks) == n


def test_two_servers_of_one_folder_work_and_leave_it_as_it_is(runs: Path) -> None:
    play_tournament("random", "aggro", decks="thesis-paladin", games=4, out=runs / "games", quiet=True)
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in files_of(runs)}
    with served(runs, opponents=[]) as one, served(runs, opponents=[]) as other:
        for path in ("/", "/run/example", "/numbers/example", "/tournament/games", "/games/games", "/play"):
            answers = [asked.get(path) for asked in (one, other)]
            assert [status for status, _, _ in answers] == [200, 200]
        for asked in (one, other):
            wait_until(lambda asked=asked: asked.get("/game/1/games")[0] != 202, "it is played again", 0.1)  # type: ignore[misc]
        assert one.get("/game/1/games")[::2] == other.get("/game/1/games")[::2]
    assert {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in files_of(runs)} == before


def files_of(folder: Path) -> list[Path]:
    """All files below a folder."""
    return [file for file in folder.rglob("*") if file.is_file()]


def test_a_run_page_has_configuration_champion_and_report(runs: Path) -> None:
    config = (EXAMPLE / "config.toml").read_text()
    with served(runs) as asked:
        body = asked.get("/run/example")[2].decode()
        assert "<summary>Configuration</summary>" in body
        assert html.escape(config.splitlines()[1], quote=True).replace("&quot;", "&#34;") in body
        assert "/report/example" not in body
        assert asked.get("/report/example")[0] == 404
        (runs / "example" / "report.html").write_text("<h1>mine</h1>")
        (runs / "study" / "00" / "report.html").symlink_to(runs.parent / "secret" / "run" / "config.toml")
        assert "/report/example" in asked.get("/run/example")[2].decode()
        status, headers, content = asked.get("/report/example")
        assert (status, content) == (200, b"<h1>mine</h1>")
        assert headers["content-disposition"] == 'attachment; filename="report.html"'
        assert asked.get("/report/study/00")[0] == 404
        numbers = json.loads(asked.get("/numbers/example")[2])
    vector = read_runs([EXAMPLE]).vector
    assert numbers["weights"]["meanings"] == list(vector.MEANINGS[: len(vector.names())])
    assert numbers["seed"] == "4"
    assert sum(share or 0 for share in numbers["weights"]["champion"]) == pytest.approx(1)


def test_a_study_has_a_page_of_its_runs(runs: Path) -> None:
    shutil.copytree(EXAMPLE, runs / "study" / "01")
    with served(runs) as asked:
        body = b""
        while b"/study/study" not in body:
            body = asked.get("/")[2]
        status, _, content = asked.get("/study/study")
        page = content.decode()
        assert status == 200
        assert 'data-address="study/00"' in page
        assert 'data-address="study/01"' in page
        assert "Their configurations are equal" in page
        for path in ("/study/none", "/study/", "/study/../secret", "/study/example"):
            assert asked.get(path)[0] == 404
