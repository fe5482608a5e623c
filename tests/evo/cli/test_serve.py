"""The command `manaforge serve` as a script uses it: by the address that it prints."""

import http.client
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from evo.serving.guard import COOKIE_PREFIX
from tests.waiting import HANG


def test_the_printed_address_is_answered_at_once_and_no_other(tmp_path: Path) -> None:
    main = "from evo.cli.main import main; main()"
    words = [sys.executable, "-c", main, "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline() + server.stdout.readline())
            assert address is not None
            place = urlsplit(address[0])
            assert place.hostname == "127.0.0.1"
            for query, status in ((f"?{place.query}", 303), ("", 403), ("?token=", 403)):
                link = http.client.HTTPConnection("127.0.0.1", place.port or 0, timeout=HANG)
                link.request("GET", f"/{query}")
                answer = link.getresponse()
                assert answer.status == status
                cookie = answer.getheader("set-cookie", "")
                assert cookie.startswith(f"{COOKIE_PREFIX}_{place.port}=") == (status == 303)
                link.close()
        finally:
            server.terminate()
