"""Evolution of weights: strategies, fitness by coevolution, runs, studies, champions."""
