"""Published results, repeated: run the commands, store their results, write docs/published.md from them.

    python -m benchmarks.published                 # everything: make published
    python -m benchmarks.published --parts thesis  # one part
    python -m benchmarks.published --parts none    # only the page and its figures, from the kept results

A part has jobs (`jobs.Job`: a command as a user types it), reads their results into tables that are kept in
`results/`, and makes the figures and blocks of the page from these tables alone. So each number and each
comparison of the page is computed from a table that can be read, and a test makes the page again from them.
"""
