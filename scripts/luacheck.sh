# Lints Lua files with luacheck, which has to be installed. Missing paths are left out.
set -eu
if ! command -v luacheck >/dev/null; then
  echo "luacheck is missing. Debian and Ubuntu: apt-get install lua-check. macOS: brew install luacheck." >&2
  exit 1
fi
for path; do
  shift
  [ ! -e "$path" ] || set -- "$@" "$path"
done
exec luacheck --quiet "$@"
