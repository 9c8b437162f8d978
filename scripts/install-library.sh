# Puts a built library at <folder>/lathe_core.so. Copy and rename: an editor that has the old file loaded keeps it whole.
# usage: install-library.sh <library> <folder>
set -eu
mkdir -p "$2"
new="$2/lathe_core.so.$$"
trap 'rm -f "$new"' EXIT
cp "$1" "$new"
mv -f "$new" "$2/lathe_core.so"
