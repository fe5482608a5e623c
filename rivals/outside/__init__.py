"""Outside agents: external programs of any language, and classes of other Python packages."""
