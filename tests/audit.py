"""Known vulnerabilities of the locked packages; prints a warning if no advisory source can be reached."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OPTIONS = (
    "--disable-pip",
    "--require-hashes",
    "--progress-spinner",
    "off",
    "--timeout",
    "10",
    "--format",
    "json",
)


UNREACHABLE = ("ConnectionError", "ServiceError", "timed out", "Connection refused", "Max retries exceeded")
"""Texts of pip-audit when it cannot reach an advisory source."""


def main() -> int:
    """Audit `requirements.lock`; 1 where a package has a known vulnerability, else 0."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pip_audit",
                "-r",
                ROOT / "requirements.lock",
                *OPTIONS,
                "--output",
                found,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            packages = json.loads(found.read_text())["dependencies"]
        except (OSError, ValueError, KeyError):
            told = (done.stderr.strip().splitlines() or ["no answer"])[-1]
            if not any(word in done.stderr for word in UNREACHABLE):
                print(f"pip-audit failed: {told}")
                return 1
            print(
                f"pip-audit: SKIPPED, NOTHING WAS CHECKED: no advisory source can be reached ({told[:200]})"
            )
            return 0
    broken = [(one["name"], one["version"], flaw["id"]) for one in packages for flaw in one.get("vulns", [])]
    for name, version, flaw in broken:
        print(f"pip-audit: {name} {version} has {flaw}")
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    checked = len(packages) - len(skipped)
    if not checked:
        print("pip-audit: SKIPPED, NOTHING WAS CHECKED: the advisory source answers, but knows no package")
        return 0
    if skipped:
        print(f"pip-audit: NOT CHECKED, for the advisory source does not know them: {', '.join(skipped)}")
    print(f"pip-audit: {checked} of {len(packages)} packages checked, {len(broken)} known vulnerabilities")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
