"""Agents from outside: external programs of any language, and classes of other Python packages."""
