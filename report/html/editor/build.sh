#!/bin/sh
# Bundles the editor and what licences it carries: assets/editor.js and LICENSES. The versions are
# those of package.json; package-lock.json holds the checksums of all that they need.
set -eu
here=$(CDPATH= cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/package.json" "$here/main.js" "$work/"
[ ! -f "$here/package-lock.json" ] || cp "$here/package-lock.json" "$work/"
cd "$work"
npm install --silent --no-audit --no-fund --ignore-scripts --omit-lockfile-registry-resolved
cp package-lock.json "$here/"
./node_modules/.bin/esbuild main.js --bundle --minify --format=iife --target=es2020 --charset=ascii --legal-comments=none \
	--metafile=meta.json --banner:js="/* CodeMirror 6 and Lezer, MIT licence: see LICENSES in report/html/editor. Built by make editor. */" \
	--outfile="$here/../assets/editor.js" --log-level=warning
node -e '
const fs = require("fs"), names = new Set();
for (const f of Object.keys(JSON.parse(fs.readFileSync("meta.json")).inputs)) {
  const m = /^node_modules\/((?:@[^\/]+\/)?[^\/]+)\//.exec(f);
  if (m) names.add(m[1]);
}
let out = "";
for (const n of [...names].sort()) {
  const p = JSON.parse(fs.readFileSync("node_modules/" + n + "/package.json"));
  out += "=".repeat(78) + "\n" + n + " " + p.version + " (" + p.license + ")\n" + "=".repeat(78) + "\n" +
    fs.readFileSync("node_modules/" + n + "/LICENSE", "utf8").trimEnd() + "\n\n";
}
fs.writeFileSync(process.argv[1], out);
' "$here/LICENSES"
wc -c "$here/../assets/editor.js"
