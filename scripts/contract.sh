#!/bin/sh
# Writes the list of CodeCompanion's promises that lathe keeps, from the names of the tests that show them:
#   sh scripts/contract.sh > doc/contract.md
# A test is named cc_<area>_<claim>; an area of two words stands below.
set -eu
cd "$(dirname "$0")/.."
cat <<'EOF'
# The contract of CodeCompanion's tools

What lathe promises to tools written for CodeCompanion. Each line is the name of a test that shows it; the list is made by
`scripts/contract.sh`, and a test fails when it is stale.
EOF
find tests src -name '*.rs' | LC_ALL=C sort | while read -r file; do
  sed -n 's/^ *fn cc_\([a-z0-9_]*\)().*/\1/p' "$file" | sed "s|^|$file |"
done | sed 's/ adapter_tool_/ adapter-tool_/; s/ cmd_tool_/ cmd-tool_/; s/ system_prompt_/ system-prompt_/' |
  awk '{ area = $2; sub(/_.*/, "", area); claim = $2; sub(/^[^_]*_/, "", claim); gsub(/_/, " ", claim)
         print area "\t" claim "\t" $1 }' | LC_ALL=C sort |
  awk -F '\t' '{ if ($1 != last) { name = $1; gsub(/-/, " ", name); printf "\n## %s\n\n", name; last = $1 }
                 printf "- %s (`%s`)\n", $2, $3 }'
