#!/bin/sh
# Installs the distribution packages that guestgpu builds and runs with: Debian 12 and 13, Ubuntu 24.04.
# usage: scripts/setup-system.sh [--check | --print]
#   (nothing)  install what is missing (root or sudo); does nothing when all is there
#   --check    change nothing; exit 1 and name what is missing
#   --print    print the packages, one a line
set -eu

mode=${1:-install}
case "$mode" in install|--check|--print) ;; *) echo "usage: $0 [--check | --print]" >&2; exit 2 ;; esac

. /etc/os-release
case "${ID:-}:${VERSION_ID:-}" in
debian:12) backports=bookworm-backports ;;
debian:13|ubuntu:24.04) backports= ;;
*) echo "setup-system: ${PRETTY_NAME:-this system} is not known here (Debian 12, Debian 13, Ubuntu 24.04 are);" \
        "install these or their like by hand:" >&2
   backports= mode=--print ;;
esac

# Compilers and Python; Vulkan headers, loader, volk and the validation layer; GLSL and SPIR-V tools; meshlets.
# libvulkan-volk-dev is Zeux's Vulkan loader: it conflicts with GNU Radio's libvolk-dev of a similar name.
packages="gcc g++ clang libclang-rt-dev make pkg-config git
python3 python3-dev python3-venv
libvulkan-dev libvulkan1 libvulkan-volk-dev vulkan-validationlayers vulkan-tools
spirv-tools spirv-headers libshaderc-dev glslang-dev glslc libmeshoptimizer-dev"
# The software device. Debian 12's own (22.3) has no mesh shaders, so only it comes from backports there.
driver=mesa-vulkan-drivers
driver_floor=24.0
[ -z "$backports" ] || driver_floor=25.0

if [ "$mode" = --print ]; then
    # shellcheck disable=SC2086
    printf '%s\n' $packages "$driver"
    exit 0
fi

installed() { dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p'; }
driver_is_right() { v=$(installed "$driver"); [ -n "$v" ] && dpkg --compare-versions "$v" ge "$driver_floor"; }

missing=
for p in $packages; do [ -n "$(installed "$p")" ] || missing="$missing $p"; done
if driver_is_right; then need_driver=; else need_driver=$driver; fi

if [ -z "$missing$need_driver" ]; then
    [ "$mode" = --check ] || echo "setup-system: everything is installed"
    exit 0
fi
if [ "$mode" = --check ]; then
    echo "setup-system: missing:$missing ${need_driver:+$driver >= $driver_floor}"
    exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup-system: run this as root (no sudo here); missing:$missing $need_driver" >&2; exit 1; }
    as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@"; }

# Adds the backports suite from the very mirror that this machine's Debian packages come from.
add_backports() {
    list=/etc/apt/sources.list.d/guestgpu-backports.list
    apt-cache policy 2>/dev/null | grep -q "$backports" && return 0
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
             awk -v c="${VERSION_CODENAME}" '$2 == c && $3 == "main" { print $1; exit }')
    [ -n "$mirror" ] || { echo "setup-system: no mirror of $VERSION_CODENAME in the apt sources; add $backports yourself" >&2; exit 1; }
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$key] $mirror $backports main" | $as_root tee "$list" >/dev/null
}

apt update || echo "setup-system: apt-get update had errors; going on with the lists there are" >&2
if [ -n "$need_driver" ] && [ -n "$backports" ]; then
    add_backports
    apt update
fi
# shellcheck disable=SC2086
[ -z "$missing" ] || apt install -y --no-install-recommends $missing
if [ -n "$need_driver" ]; then
    apt install -y --no-install-recommends ${backports:+-t "$backports"} "$driver"
fi
driver_is_right || { echo "setup-system: $driver $(installed "$driver") is older than $driver_floor" >&2; exit 1; }
echo "setup-system: done"
