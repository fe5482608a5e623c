"""The size of a chunk: the games that a worker is given at once."""

CHUNKS_A_WORKER = 8
LONGEST_CHUNK = 1.0
"""Seconds."""


class ChunkSizer:
    """Sizes chunks by the measured speed of workers.

    Args:
        workers: number of workers.
        shortest: seconds that a chunk takes at least.
    """

    def __init__(self, workers: int, shortest: float) -> None:
        self.workers = workers
        self.shortest = shortest
        self._speed: dict[bool, float] = {True: 4000.0, False: 10.0}
        self._known = {True: True, False: False}

    def size(self, left: int, total: int, compiled: bool) -> int:
        """Games of the next chunk: a second's, or a fair share of all, or near the end of those left."""
        if not self._known[compiled]:
            return 1  # a solver may take a minute for a game
        speed = self._speed[compiled]
        share = min(total / (CHUNKS_A_WORKER * self.workers), left / (2 * self.workers))
        share = max(min(share, LONGEST_CHUNK * speed), self.shortest * speed)
        return int(min(max(share, 1), left))

    def record_speed(self, games: int, seconds: float, compiled: bool) -> None:
        """Learn the speed of one worker."""
        if seconds > 0 and games > 0:
            if not self._known[compiled]:
                self._known[compiled], self._speed[compiled] = True, games / seconds
            self._speed[compiled] += 0.5 * (games / seconds - self._speed[compiled])
