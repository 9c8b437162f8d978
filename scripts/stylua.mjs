// Runs the pinned stylua from npm, which is a library without a command: formats files, or says which are not formatted.
// usage: STYLUA_HOME=<folder> node stylua.mjs [--check] <file or folder>...
import { createRequire } from "node:module";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const load = createRequire(resolve(process.env.STYLUA_HOME, "package.json"));
const stylua = load("@johnnymorganz/stylua");

// stylua.toml is the one place for the style; every key is a field of the library's configuration.
function config() {
  const enums = { indent_type: stylua.IndentType, quote_style: stylua.QuoteStyle, call_parentheses: stylua.CallParenType };
  const config = stylua.Config.new();
  config.syntax = stylua.LuaVersion.LuaJIT;
  for (const line of readFileSync("stylua.toml", "utf8").split("\n")) {
    const [, key, value] = /^(\w+)\s*=\s*(.+?)\s*$/.exec(line) ?? [];
    if (!key) continue;
    if (!(key in config)) throw new Error(`stylua.toml: ${key} is unknown`);
    const word = JSON.parse(value);
    config[key] = key in enums ? enums[key][word] : word;
    if (config[key] === undefined) throw new Error(`stylua.toml: ${key} = ${value} is unknown`);
  }
  return config;
}

function luaFiles(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => {
    const inner = join(path, name);
    return statSync(inner).isDirectory() || name.endsWith(".lua") ? luaFiles(inner) : [];
  });
}

const args = process.argv.slice(2);
const check = args[0] === "--check";
let failed = false;
for (const file of (check ? args.slice(1) : args).flatMap(luaFiles)) {
  const text = readFileSync(file, "utf8");
  let formatted;
  try {
    formatted = stylua.formatCode(text, config(), undefined, stylua.OutputVerification.Full);
  } catch (error) {
    console.error(`${file}: ${error}`);
    failed = true;
    continue;
  }
  if (formatted === text) continue;
  if (!check) {
    writeFileSync(file, formatted);
    continue;
  }
  failed = true;
  const [was, is] = [text.split("\n"), formatted.split("\n")];
  const row = is.findIndex((line, i) => line !== was[i]);
  console.error(`${file}:${row + 1}: not formatted (make fmt)\n  - ${was[row] ?? ""}\n  + ${is[row] ?? ""}`);
}
process.exit(failed ? 1 : 0);
