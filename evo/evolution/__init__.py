"""Evolution of weights: fitness by coevolution, the generation loop, validation, the champion."""
