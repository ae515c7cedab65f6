#!/bin/sh
# Fetches the real meshes that experiments know by name: elephant, bunny, armadillo (OFF files of the
# Debian package libcgal-demo). Nothing is installed and no root is needed.
# usage: scripts/fetch-meshes.sh [FOLDER]    default: $GUESTGPU_MESHES, else ~/.cache/guestgpu/meshes
set -eu

case "${1:-}" in -*) echo "usage: $0 [FOLDER]" >&2; exit 2 ;; esac
folder=${1:-${GUESTGPU_MESHES:-${HOME:?}/.cache/guestgpu/meshes}}
package=libcgal-demo
# name here : name in the package
meshes="elephant:refined_elephant bunny:bunny00 armadillo:armadillo"

fail() { echo "fetch-meshes: $1" >&2; exit 1; }

missing=
for mesh in $meshes; do [ -s "$folder/${mesh%%:*}.off" ] || missing=1; done
[ -n "$missing" ] || { echo "fetch-meshes: all there, in $folder"; exit 0; }

for tool in apt-get dpkg tar; do
    command -v "$tool" >/dev/null || fail "no $tool here: take the .off files of CGAL's data/meshes by hand and name them as in this script"
done
mkdir -p "$folder" || fail "cannot create $folder"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
(cd "$work" && apt-get -q download "$package" >log 2>&1) ||
    fail "apt-get could not download $package (is it in the apt sources? try apt-get update): $(tail -n 1 "$work/log")"
dpkg -x "$work"/"$package"_*.deb "$work/package" || fail "$package does not unpack"

# Releases differ in where the data lies and whether it is packed.
find "$work/package" -name 'data.tar.*' | while read -r archive; do tar -C "$work" -xf "$archive"; done
for mesh in $meshes; do
    found=$(find "$work" -name "${mesh#*:}.off" | head -n 1)
    [ -n "$found" ] || fail "$package holds no ${mesh#*:}.off"
    # Into place in one step, so that an interrupted copy is never taken for a mesh.
    part=$folder/.${mesh%%:*}.part
    cp "$found" "$part" || fail "cannot write to $folder"
    mv "$part" "$folder/${mesh%%:*}.off"
done
echo "fetch-meshes: elephant, bunny and armadillo are in $folder"
