"""Questions about weights and optimisers, each answered by games of its own: the commands beside runs."""
