"""A second, plain implementation of the rules, for comparison with the compiled one. Slow and simple.

`plain` plays bodies with keywords, `game` real cards on top of it; the rest belongs to `game`: `cards` are
facts and rows, `characters` minions and heroes, `effects` what rows do, `record` the game in the engine's
bytes, `outcomes` all that may follow an action.
"""
