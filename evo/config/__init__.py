"""Configurations of runs: their keys, files and error messages."""

from typing import TYPE_CHECKING

from engine.lazy import exports

if TYPE_CHECKING:  # imported on first use
    from evo.config.files import read_config
    from evo.config.run_config import RunConfig
else:
    __getattr__, __dir__ = exports(__name__)

__all__ = ["RunConfig", "read_config"]
