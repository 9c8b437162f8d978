# Runs the demo: with a terminal as a chat to look at, without one as a transcript with an exit code.
set -eu
nvim=$(sh scripts/find-nvim.sh)
if [ -t 0 ] && [ -t 1 ]; then
  exec "$nvim" --clean -u examples/demo.lua
fi
exec "$nvim" --clean --headless -u examples/demo.lua
