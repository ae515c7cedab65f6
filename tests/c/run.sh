#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: tests/c/run.sh TITLE PROGRAM...
# Runs test programs one after another: exit 0 passed, 77 skipped (a failure when GUESTGPU_REQUIRE_DEVICE
# is set), anything else failed. Prints what a program wrote only when it did not pass.
# TIMEOUT: seconds a program may take. Exit 1 when one failed, or when there was none to run.
set -eu
title=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
[ ! -f "$here/lsan.supp" ] ||
    export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0${LSAN_OPTIONS:+:$LSAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
# Drivers that are loaded only to be asked leak when they are unloaded, and have no name by then: where lavapipe
# is the device, only it is loaded.
if [ "${GUESTGPU_REQUIRE_DEVICE:-}" = lavapipe ] && [ -z "${VK_DRIVER_FILES:-}" ]; then
    for icd in /usr/share/vulkan/icd.d/lvp_icd*.json; do
        [ ! -f "$icd" ] || export VK_DRIVER_FILES="$icd"
    done
fi
output=$(mktemp)
trap 'rm -f "$output"' EXIT

passed=0 failed=0 skipped=0
for program in "$@"; do
    name=$(basename "$program")
    code=0
    timeout "${TIMEOUT:-600}" "$program" >"$output" 2>&1 </dev/null || code=$?
    if [ "$code" = 77 ] && [ -n "${GUESTGPU_REQUIRE_DEVICE:-}" ]; then
        echo "it skipped, and GUESTGPU_REQUIRE_DEVICE is set" >>"$output"
        code=1
    fi
    case $code in
    0) passed=$((passed + 1)); continue ;;
    77) skipped=$((skipped + 1)); echo "SKIP $name" ;;
    124) failed=$((failed + 1)); echo "FAIL $name: no end after ${TIMEOUT:-600} s" ;;
    *) failed=$((failed + 1)); echo "FAIL $name: exit $code" ;;
    esac
    sed 's/^/    /' "$output"
done
echo "C tests ($title):"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ $((passed + skipped)) != 0 ]
