#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the libraries that csrc/gpu links with, for csrc/Makefile and python/ffi_build.py.
# Exit 1 and a line on stderr that names what is missing. CC may name the compiler.
set -eu
cc=${CC:-cc}

has_header() { printf '#include <%s>\n' "$1" | $cc -E -x c - >/dev/null 2>&1; }
# The compiler answers with the bare name when it does not find the file.
has_library() { case $($cc -print-file-name="lib$1.a") in /*) ;; *) return 1 ;; esac; }

missing=
for header in vulkan/vulkan.h volk.h shaderc/shaderc.h spirv-tools/libspirv.h meshoptimizer.h; do
    has_header "$header" || missing="$missing <$header>"
done
for library in shaderc_combined glslang SPIRV-Tools; do
    has_library "$library" || missing="$missing lib$library.a"
done
if [ -n "$missing" ]; then
    echo "the GPU part needs:$missing (scripts/setup-system.sh installs them)" >&2
    exit 1
fi

# Static, because Debian 12's shared libshaderc does not load; its "combined" archive still leaves
# glslang and SPIRV-Tools to be named. Which archives glslang is split into depends on its version.
libraries="-lshaderc_combined"
for library in SPIRV glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler HLSL; do
    ! has_library "$library" || libraries="$libraries -l:lib$library.a"
done
echo "$libraries -l:libSPIRV-Tools-opt.a -l:libSPIRV-Tools.a -lmeshoptimizer -lstdc++ -lm -ldl -lpthread"
