"""What the thesis prints of its tournament: Table 7.1, and the mirrors that its section 7.7.2 names.

Source: Guo, "Optimizing Board Control in Digital Card Games: A Linear Programming Approach to Enhanced AI
Decision-Making", University of North Carolina at Chapel Hill, 2025.
"""

GAMES = 1_000
"""Games of each cell; there were no draws."""

WINS = (
    (822, 946, 779, 865, 1000, 703, 998),
    (370, 742, 602, 524, 984, 359, 963),
    (474, 720, 437, 476, 991, 337, 991),
    (609, 873, 746, 719, 998, 566, 995),
    (56, 384, 138, 190, 872, 35, 796),
    (610, 847, 569, 642, 998, 450, 999),
    (60, 417, 131, 177, 878, 47, 801),
)
"""Games won by the row's profile, which goes first, against the column's; W1 to W7."""

TURNS = (
    (15.78, 16.71, 11.69, 16.55, 14.56, 12.39, 15.2),
    (21.7, 24.22, 17.83, 22.47, 21.95, 17.56, 23.55),
    (11.91, 16.37, 8.41, 13.24, 16.34, 9.11, 16.99),
    (18.43, 20.37, 14.08, 18.72, 18.03, 14.83, 19.17),
    (20.66, 26.25, 18.93, 22.78, 26.19, 17.38, 27.86),
    (11.95, 15.43, 8.76, 13.51, 14.48, 9.35, 15.12),
    (20.65, 26.16, 19.48, 22.7, 26.2, 17.52, 27.87),
)
"""Mean rounds of a game."""

MIRRORS = {1: 0.822, 2: 0.742, 3: 0.437, 5: 0.872, 6: 0.450, 7: 0.801}
"""Games of a profile against itself that go to the first player, as section 7.7.2 lists them."""
