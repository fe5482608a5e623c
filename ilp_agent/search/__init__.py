"""Turn solver by memoised search on engine states, with card effects and chance nodes."""
