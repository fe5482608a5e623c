"""MCTS: plays the action that most random games of its tree went through (`rivals.mcts_search`).

Source: Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (2012). It needs no
weights: games that are played out at random take the place of an evaluation. Every action is searched for
anew, from what the player sees alone.
"""

import threading
from collections.abc import Sequence

import numpy as np

from engine import Action, Deck, PlayerView
from engine.batches import nothing_dealt
from engine.effects.cardsets import has_effects
from engine.match import Reckoned
from engine.streams import key_of
from engine.view import Shown
from ilp_agent.lookahead.hands import take_over
from ilp_agent.lookahead.library import class_decks, library_for
from rivals.batch import with_options
from rivals.mcts_search import SearchMemory, choose, new_memory, play_games

_LOCAL = threading.local()


def memory_of_thread() -> SearchMemory:
    """This thread's memory, made once: kernels run without the GIL, so no two threads may share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = new_memory()
    memory: SearchMemory = _LOCAL.memory
    return memory


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    chances: np.ndarray,
    turns: np.ndarray,
    known: Reckoned | None = None,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    rows = with_options(weights, 2)
    predicts = bool((rows[:, 1] == Shown.SEEN).any())
    dealt, table, further = known or Reckoned(nothing_dealt(len(states)))
    longer, library = library_for(cards, predicts, has_effects(cards), table, further)
    search = memory_of_thread(), keys, dealt, library
    play_games(longer, rows, agents, states, chances, search, turns)


class MctsAgent:
    """Plays the action that most iterations of its search went through.

    Args:
        budget: playouts for a decision, 1 to `rivals.mcts_search.MOST_PLAYOUTS`.
        hands: what is taken of the opponent's hand, a value of `ilp_agent.lookahead.options.HANDS`.
        further: decks that an opponent may play beside the shipped ones, where its deck is predicted.

    Attributes:
        shown: what of the opponent's cards it is to be shown beside its view.
        library: decks that it reckons with on real cards, whose cards must be in the game's table.
    """

    name = "mcts"

    def __init__(self, budget: int = 200, hands: int = Shown.NOTHING, further: Sequence[Deck] = ()) -> None:
        self.budget, self.shown = budget, Shown(hands)
        self.further = tuple(further)
        self.library = class_decks(self.further) if self.shown == Shown.SEEN else ()

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """The action that was visited most."""
        position, memory = view.position, memory_of_thread()
        real = position.table.effects
        cards, library = library_for(
            position.table.array, bool(self.library), real, position.table, self.further
        )
        n_shown, what = take_over(view, memory.hands), int(self.shown)
        code = choose(position.states, cards, self.budget, key_of(rng), what, n_shown, library, memory)
        return Action.from_code(code)
