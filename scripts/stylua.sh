# Formats Lua files with a pinned stylua, or checks them. Missing paths are left out.
# usage: stylua.sh [--check] <path>...
set -eu
version=2.5.2
check=
if [ "$1" = --check ]; then
  check=--check
  shift
fi
for path; do
  shift
  [ ! -e "$path" ] || set -- "$@" "$path"
done

# With npm it is a download of one WebAssembly file; cargo takes minutes to build the same version.
if command -v node >/dev/null && command -v npm >/dev/null; then
  home=.deps/stylua-$version
  if [ ! -e "$home/node_modules/@johnnymorganz/stylua" ]; then
    npm install --prefix "$home" --silent --no-audit --no-fund --ignore-scripts "@johnnymorganz/stylua@$version" >&2
  fi
  STYLUA_HOME="$home" exec node scripts/stylua.mjs $check "$@"
fi
if [ "$(.deps/bin/stylua --version 2>/dev/null)" != "stylua $version" ]; then
  cargo install --quiet --locked --root .deps --features luajit "stylua@$version" >&2
fi
exec .deps/bin/stylua $check "$@"
