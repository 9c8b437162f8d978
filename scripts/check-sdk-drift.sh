#!/bin/sh
# Compares what the codecs know of providers with the types of the newest SDKs. Needs a network and python3, so it is no
# part of `make check`: run it before a release, and when a provider refuses what it took before.
# usage: check-sdk-drift.sh [version of an SDK, such as openai==3.0]...
set -eu
cd "$(dirname "$0")/.."
venv=.deps/sdk-drift
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade \
  anthropic google-genai groq mistralai ollama openai
[ $# -eq 0 ] || "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
exec "$venv/bin/python" scripts/sdk_drift.py
