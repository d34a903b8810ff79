"""Thin command line verbs of `mimicik`."""
