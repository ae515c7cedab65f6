#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: tests/c/fuzz.sh PROGRAM SECONDS
# Fuzzes from tests/fuzz/corpus/<name>, which stays as it is; new inputs and crashes lie beside the program.
set -eu
program=$1 seconds=$2
name=$(basename "$program" | sed 's/^fuzz_//')
corpus=$(dirname "$0")/../fuzz/corpus/$name
grown=$(dirname "$program")/corpus/$name
found=$(dirname "$program")/crashes/$name
mkdir -p "$grown" "$found"
log=$found/log
seeds=
[ ! -d "$corpus" ] || seeds=$corpus
if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$found/" \
    "$grown" ${seeds:+"$seeds"} >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log"
    echo "fuzz $name: failed; the input is in $found"
    exit 1
fi
echo "fuzz $name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") runs in $seconds s"
