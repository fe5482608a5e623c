"""Configurations of runs: their keys, files and error messages."""

from typing import TYPE_CHECKING

from engine.lazy import lazy_exports

if TYPE_CHECKING:  # imported on first use
    from evo.config.files import read_config
    from evo.config.run_config import RunConfig
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = ["RunConfig", "read_config"]
