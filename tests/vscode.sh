#!/usr/bin/env bash
# The extension for Visual Studio Code: its tests, and whether it can be packaged. Where node is missing, nothing is
# tested; with CI=true that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "npm is missing: the extension for Visual Studio Code is not tested" >&2
  [ -z "${CI:-}" ]
  exit
fi
# In a copy, so that no packages come to lie in the work tree.
folder=target/vscode
mkdir -p "$folder"
find "$folder" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
cp -R ptx-cli/editors/vscode/. "$folder"
cd "$folder"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' ../../Cargo.toml | head -n 1)
node -e 'const own = require("./package.json").version;
  if (own !== process.argv[1]) { console.error(`package.json has version ${own}, Cargo.toml ${process.argv[1]}`); process.exit(1); }' "$version"
npm ci --no-audit --no-fund --loglevel=error
npm test
npx --no-install vsce package --out ptx-toolkit.vsix
# What the client needs at run time is in the package.
unzip -l ptx-toolkit.vsix >package.log
for file in extension/client/extension.js extension/node_modules/vscode-languageclient/package.json \
  minimatch/package.json extension/syntaxes/ptx.tmLanguage.json; do
  grep --quiet "[ /]$file\$" package.log || { echo "the package lacks $file" >&2; exit 1; }
done
