"""Games between players: setups, matchups, schedules, and the workers that play them."""
