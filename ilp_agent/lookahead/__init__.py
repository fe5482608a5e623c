"""Looking ahead: different ends of a turn, the opponent's reply to each, and the value of what is left.

`pool` finds the ends, `judge` says what follows one and what that is worth by `features`, `kernel` chooses a
turn, `selfplay` plays games in batches and `agent` in Python.
"""
