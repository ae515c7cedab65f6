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

# Compilers and Python; Vulkan headers, loader, volk and the validation layer; GLSL and SPIR-V tools; meshlets; hashes; the guest
# compiler of OpenCL C.
# libvulkan-volk-dev is Zeux's Vulkan loader: it conflicts with GNU Radio's libvolk-dev of a similar name.
packages="gcc g++ clang libclang-rt-dev make pkg-config git
python3 python3-dev python3-venv
libvulkan-dev libvulkan1 libvulkan-volk-dev vulkan-validationlayers vulkan-tools
spirv-tools spirv-headers libshaderc-dev glslang-dev glslc libmeshoptimizer-dev
clang-19 llvm-19 lld-19 libxxhash-dev"
# The software device and RADV, the fake kernel driver that RADV runs on, and that driver's header. Debian 12's own Mesa
# (22.3) has no mesh shaders, so only these come from backports there, together, since they are built for one another.
driver="mesa-vulkan-drivers mesa-drm-shim libdrm-dev"
mesa_floor=24.0
[ -z "$backports" ] || mesa_floor=25.0

if [ "$mode" = --print ]; then
    # shellcheck disable=SC2086
    printf '%s\n' $packages $driver
    exit 0
fi

installed() { dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p'; }
# The packages of the driver group that are not there, or of a Mesa that is too old.
driver_lacks() {
    for p in $driver; do
        case $p in mesa-*) floor=$mesa_floor ;; *) floor=0 ;; esac
        v=$(installed "$p")
        if [ -z "$v" ] || ! dpkg --compare-versions "$v" ge "$floor"; then printf ' %s' "$p"; fi
    done
}

missing=
for p in $packages; do [ -n "$(installed "$p")" ] || missing="$missing $p"; done
need_driver=$(driver_lacks)

if [ -z "$missing$need_driver" ]; then
    [ "$mode" = --check ] || echo "setup-system: everything is installed"
    exit 0
fi
if [ "$mode" = --check ]; then
    echo "setup-system: missing:$missing$need_driver${need_driver:+ (Mesa >= $mesa_floor)}"
    exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup-system: run this as root (no sudo here); missing:$missing$need_driver" >&2; exit 1; }
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
    # shellcheck disable=SC2086
    apt install -y --no-install-recommends ${backports:+-t "$backports"} $driver
fi
need_driver=$(driver_lacks)
[ -z "$need_driver" ] || { echo "setup-system:$need_driver: missing, or Mesa older than $mesa_floor" >&2; exit 1; }
echo "setup-system: done"
