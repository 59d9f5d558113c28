#!/usr/bin/env bash
# The extension for Visual Studio Code: its tests, and whether it can be packaged. Where node is missing, the tests are
# shown as ignored; what npm installs has to be there.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "ignored: npm is missing, so the extension for Visual Studio Code is not tested" >&2
  exit 0
fi
# In a copy, so that no packages come to lie in the work tree.
folder=target/vscode
mkdir -p "$folder"
find "$folder" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
cp -R ptx-cli/editors/vscode/. "$folder"
cd "$folder"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' ../../Cargo.toml | sed --quiet 1p)
# An extension has no versions between releases.
version=${version%-dev}
node -e 'const own = require("./package.json").version;
  if (own !== process.argv[1]) { console.error(`package.json has version ${own}, Cargo.toml ${process.argv[1]}`); process.exit(1); }' "$version"
npm ci --no-audit --no-fund --loglevel=error
npm test
npx --no-install vsce package --out ptx-toolkit.vsix
# What the client needs at run time is in the package.
python3 -c 'import zipfile; print(*zipfile.ZipFile("ptx-toolkit.vsix").namelist(), sep="\n")' >package.log
for file in extension/client/extension.js extension/node_modules/vscode-languageclient/package.json \
  minimatch/package.json extension/syntaxes/ptx.tmLanguage.json; do
  grep --quiet --extended-regexp "(^|/)$file\$" package.log || { echo "the package lacks $file" >&2; exit 1; }
done
