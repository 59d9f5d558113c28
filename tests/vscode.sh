#!/usr/bin/env bash
# The extension for Visual Studio Code: its tests, and whether it can be packaged. Where there is no node that the
# packager runs on, or npm's registry does not answer, nothing is tested, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."

ignored() {
  echo "ignored: $1, so the extension for Visual Studio Code is not tested" >&2
  exit 0
}
{ command -v npm && command -v node; } >/dev/null || ignored "npm is missing"
node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || ignored "node is older than 20"
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
# What the registry does not give is not our fault; a lock file that does not fit is.
if ! npm ci --no-audit --no-fund --loglevel=error >../npm.log 2>&1; then
  cat ../npm.log >&2
  network='ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EPROTO|E40[13]|E5[0-9][0-9]'
  grep --quiet --extended-regexp "code ($network)\$|certificate" ../npm.log && ignored "npm's registry cannot be reached"
  exit 1
fi
npm test
npx --no-install vsce package --out ptx-toolkit.vsix
# What the client needs at run time is in the package.
python3 -c 'import zipfile; print(*zipfile.ZipFile("ptx-toolkit.vsix").namelist(), sep="\n")' >package.log
for file in extension/client/extension.js extension/node_modules/vscode-languageclient/package.json \
  minimatch/package.json extension/syntaxes/ptx.tmLanguage.json; do
  grep --quiet --extended-regexp "(^|/)$file\$" package.log || { echo "the package lacks $file" >&2; exit 1; }
done
