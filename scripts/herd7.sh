#!/usr/bin/env bash
# Unpacks herd7, diy7 and friends (Debian sid's herdtools7) with the C library they need into a folder of
# your own, without root and without touching the system; prints the folder with the wrapper scripts.
# usage: herd7.sh [FOLDER]      default: ${XDG_CACHE_HOME:-~/.cache}/herd7
set -euo pipefail
dest=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/herd7}
if [[ -x $dest/bin/herd7 ]] && "$dest/bin/herd7" -version >/dev/null 2>&1; then echo "$dest/bin"; exit 0; fi
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/debian/?$' | sort -u | head -n 1)
[[ -n $mirror ]] || { echo "herd7.sh: no Debian mirror in this machine's apt configuration" >&2; exit 1; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
key=/usr/share/keyrings/debian-archive-keyring.gpg
printf 'Types: deb\nURIs: %s\nSuites: sid\nComponents: main\nSigned-By: %s\n' "$mirror" "$key" > "$work/sid.sources"
o=(-oDir::Etc::SourceList="$work/sid.sources" -oDir::Etc::SourceParts=- -oDir::State::Lists="$work/lists"
   -oDir::Cache="$work/cache" -oAPT::Sandbox::User=root -qq)
apt-get "${o[@]}" update
(cd "$work/debs" && apt-get "${o[@]}" download herdtools7 libc6 libgmp10)
rm -rf "$dest.new"; mkdir -p "$dest.new/bin"
for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$dest.new/root"; done
loader=$(cd "$dest.new/root" && ls usr/lib64/ld-linux-x86-64.so.2 usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 2>/dev/null | head -n 1)
for tool in "$dest.new"/root/usr/bin/*7; do
  name=$(basename "$tool")
  cat > "$dest.new/bin/$name" <<WRAP
#!/bin/sh
R=$dest/root
export HERDLIB="\${HERDLIB:-\$R/usr/share/herdtools7/herd}" LITMUSDIR="\${LITMUSDIR:-\$R/usr/share/herdtools7/litmus}"
exec \$R/$loader --argv0 $name --library-path \$R/usr/lib/x86_64-linux-gnu \$R/usr/bin/$name "\$@"
WRAP
  chmod +x "$dest.new/bin/$name"
done
rm -rf "$dest"; mv "$dest.new" "$dest"
"$dest/bin/herd7" -version >/dev/null
echo "$dest/bin"
