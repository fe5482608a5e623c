"""Agents from outside: programs of any language, and classes of other packages, in processes of their own."""
