#!/bin/sh
# front.sh RELEASE [DIR] installs NVIDIA's front end (nvcc, cicc) and the headers of CUDA and CCCL below DIR/RELEASE, without root.
#
#   RELEASE   11.8 (Debian bookworm) or 12.4 (Debian trixie)
#   DIR       default: ${XDG_CACHE_HOME:-~/.cache}/optcheck/fronts
#
# The packages come from the Debian mirror of this machine's apt, which verifies signatures and checksums; about 0.9 GB for 11.8 and 1.1 GB for
# 12.4 are read, most of it libraries that are not kept. What stays has 0.4 GB. NVIDIA's packages are non-free software, with their licences in
# usr/share/doc. Afterwards `front.sh RELEASE DIR` does nothing.
set -eu
release=${1:?release: 11.8 or 12.4}
dir=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/optcheck/fronts}
case $release in
11.8) suite=bookworm nvvm=libnvvm4 ;;
12.4) suite=trixie nvvm=libnvvm4 ;;
*) echo "front.sh: unknown release $release: 11.8 or 12.4" >&2; exit 2 ;;
esac
to=$dir/$release
[ -e "$to/complete" ] && exit 0
mirror=$(apt-get indextargets --format '$(REPO_URI)|$(LABEL)' 'Created-By: Packages' | sed -n 's/|Debian$//p' | head -n 1)
[ -n "$mirror" ] || { echo "front.sh: no Debian mirror in this machine's apt configuration" >&2; exit 1; }
mkdir -p "$dir"
work=$(mktemp -d "$dir/.new-$release-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
key=/usr/share/keyrings/debian-archive-keyring.gpg
{
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main non-free\n' "$mirror" "$suite"
	[ -e $key ] && printf 'Signed-By: %s\n' $key
} >"$work/debian.sources"
apt() {
	tool=$1
	shift
	(cd "$work/debs" && "$tool" -qq -oDir::Etc::SourceList="$work/debian.sources" -oDir::Etc::SourceParts=- -oDir::State::Lists="$work/lists" \
		-oDir::Cache="$work/cache" -oAPT::Sandbox::User=root -oAPT::Get::AllowUnauthenticated=false -oAcquire::Retries=3 "$@")
}
echo "front.sh: reading the package list of $suite" >&2
apt apt-get update
for p in nvidia-cuda-toolkit $nvvm nvidia-cuda-dev libcu++-dev libcub-dev libthrust-dev; do
	echo "front.sh: $p" >&2
	apt apt-get download "$p"
	deb=$(ls "$work/debs/$p"_*.deb)
	# Of the headers' package only the headers are kept, of the toolkit's no profiler and no debugger.
	case $p in
	nvidia-cuda-dev) keep='./usr/include/* ./usr/share/doc/nvidia-cuda-dev/copyright' ;;
	nvidia-cuda-toolkit) keep='./usr/bin/* ./usr/lib/nvidia-cuda-toolkit/* ./usr/share/doc/nvidia-cuda-toolkit/copyright ./etc/*' ;;
	*) keep='./usr/*' ;;
	esac
	# shellcheck disable=SC2086
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work/root" --wildcards $(set -f; printf '%s ' $keep)
	sha256sum "$deb" | sed "s|$work/debs/||" >>"$work/packages"
	rm "$deb"
done
rm -rf "$work/lists" "$work/cache" "$work/debs" "$work/debian.sources"
touch "$work/complete"
rm -rf "$to"
mv "$work" "$to"
trap - EXIT
