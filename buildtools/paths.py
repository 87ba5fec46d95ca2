"""Where things lie in a checkout.  Only names: nothing is made or read here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
NODE_MODULES = ROOT / "node_modules"
BUILD = ROOT / ".build"  # generated TypeScript and other intermediate files
SITE = BUILD / "site"  # the documentation's website
SOURCES = BUILD / "src"
CACHE = ROOT / ".cache"  # what setting up unpacked; outlives a clean build
DIST = ROOT / "dist"
EARLIER = BUILD / "earlier"  # what earlier builds made: see codegen/earlier.py
