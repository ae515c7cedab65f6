# SPDX-License-Identifier: MIT
"""One source of truth: the cdef blocks of the headers against libraries, compilers, numpy dtypes and enums."""

import gc
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ffi_build
from guestgpu import errors, native

ROOT = Path(__file__).resolve().parent.parent
HEADERS = (*ffi_build.CORE_HEADERS, *ffi_build.GPU_HEADERS)
WITHOUT_COMMENTS = {header: re.sub(r"/\*.*?\*/", "", ffi_build.cdef_of(header), flags=re.DOTALL) for header in HEADERS}
PRESENT = [header for header in HEADERS if header != "gpu.h" or native._gpu is not None]
STRUCTS = [name for header in PRESENT for name in re.findall(r"struct (gg_\w+) \{", WITHOUT_COMMENTS[header])]
ENUMS = [
    (name, body)
    for header in PRESENT
    for name, body in re.findall(r"enum (gg_\w+) \{(.*?)\}", WITHOUT_COMMENTS[header], re.DOTALL)
]


def functions(*headers: str) -> set[str]:
    return {name for header in headers for name in re.findall(r"\b(gg_\w+)\([^;]*\);", WITHOUT_COMMENTS[header])}


def exports(library: Path) -> set[str]:
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


@pytest.fixture(scope="module")
def libraries() -> Path:
    """The folder of libguestgpu_core.so and, where it can be built, libguestgpu_gpu.so."""
    command = ["make", "-s", "-C", ROOT / "csrc", "config=debug", "CC=gcc", "-j2", "all"]  # as `make check`
    made = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert made.returncode == 0, made.stderr
    return ROOT / "csrc" / "build" / "debug-gcc"


def test_core_library_exports_what_its_headers_declare(libraries: Path) -> None:
    assert exports(libraries / "libguestgpu_core.so") == functions(*ffi_build.CORE_HEADERS)


def test_gpu_library_exports_what_its_headers_declare(libraries: Path) -> None:
    if native._gpu is None:
        pytest.skip("the GPU part was not built")
    # Equality also says that nothing of shaderc, SPIRV-Tools, glslang and volk (vk*, spv*) leaks out.
    assert exports(libraries / "libguestgpu_gpu.so") == functions("guestgpu.h", *ffi_build.GPU_HEADERS)


@pytest.mark.parametrize("name", ["_core", "_gpu"])
def test_extension_exports_nothing_else(name: str) -> None:
    extension = getattr(native, name)
    if extension is None:
        pytest.skip("the GPU part was not built")
    headers = {"_core": ffi_build.CORE_HEADERS, "_gpu": ("guestgpu.h", *ffi_build.GPU_HEADERS)}[name]
    wanted = functions(*headers) | {f"PyInit_{name}"}
    # CFFI's module carries a second entry point for PyPy.
    assert exports(Path(extension.__file__)) - {f"_cffi_pypyinit_{name}"} == wanted


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("language", ["c17", "c++17"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_header_compiles_alone(header: str, language: str, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    flags = [f"-std={language}", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}"]
    ran = subprocess.run(
        [compiler, "-x", "c++" if "+" in language else "c", *flags, "-fsyntax-only", "-"],
        input=f"#include <guestgpu/{header}>\n#include <guestgpu/{header}>\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("header", HEADERS)
def test_cdef_block_holds_only_what_cffi_takes(header: str) -> None:
    text = WITHOUT_COMMENTS[header]
    directives = [line.strip() for line in text.splitlines() if line.lstrip().startswith("#")]
    assert all(re.fullmatch(r"#define GG_\w+ +(0x[0-9a-f]+|[0-9]+)", line) for line in directives), directives
    for word in ("__attribute__", "_Static_assert", "static", "inline", "extern", "typedef", "//", "long", "size_t"):
        assert word not in re.split(r"[^\w/]+", text), word
    assert re.findall(r"\bunsigned\b|\bint\b|\bshort\b|\bbool\b", text) == [], "only fixed-width integers cross the ABI"


@pytest.mark.parametrize("name", STRUCTS)
def test_dtype_is_the_struct(name: str) -> None:
    ctype = f"struct {name}"
    dtype = native.dtype_of(ctype)
    assert dtype.itemsize == native.ffi.sizeof(ctype)
    assert dtype.names is not None
    for member, field in native.ffi.typeof(ctype).fields:
        assert dtype.fields is not None
        assert dtype.fields[member][1] == field.offset == native.ffi.offsetof(ctype, member)
        assert dtype.fields[member][0].itemsize == native.ffi.sizeof(field.type)


@pytest.mark.parametrize("name", STRUCTS)
def test_every_header_struct_with_a_body_has_its_size_asserted_in_c(name: str) -> None:
    asserted = re.findall(r"SIZE\(struct (gg_\w+), (\d+)\);", (ROOT / "csrc" / "abi_check.c").read_text())
    assert dict(asserted)[name] == str(native.ffi.sizeof(f"struct {name}"))


@pytest.mark.parametrize(("name", "body"), ENUMS, ids=[name for name, _ in ENUMS])
def test_enum_is_the_header_s(name: str, body: str) -> None:
    declared = {m: int(value, 0) for m, value in re.findall(r"(GG_\w+) = (-?\w+)", body)}
    force = [member for member in declared if member.endswith("_FORCE_32")]
    assert [declared.pop(member) for member in force] == [0x7FFFFFFF], "an ABI enum is made 32 bits wide"
    derived = {member.name: member.value for member in native.enum_of(name)}
    assert sorted(derived.values()) == sorted(declared.values())
    for member, value in derived.items():
        assert [m for m, v in declared.items() if m.endswith(f"_{member}") and v == value], member


def test_enum_names() -> None:
    assert native.enum_of("gg_layout").__members__.keys() == {"UNSET", "AOS", "SOA", "INDEXED"}
    assert native.enum_of("gg_result").ERR_LIMIT == -5
    assert native.enum_of("gg_command_kind").__name__ == "CommandKind"


def test_numpy_writes_what_c_reads() -> None:
    commands = np.zeros(3, native.dtype_of("struct gg_command"))
    commands[1]["kind"] = 7
    commands[1]["value"] = range(8)
    commands[2]["other_offset"] = 2**63
    seen = native.pointer(commands, "struct gg_command", writable=True)
    assert len(seen) == 3
    assert seen[1].kind == 7
    assert list(seen[1].value) == list(range(8))
    assert seen[2].other_offset == 2**63
    seen[0].size = 12
    assert commands[0]["size"] == 12


def test_nested_structs_and_text() -> None:
    outputs = native.dtype_of("struct gg_mesh_shape")["outputs"]
    assert outputs.shape == (native.lib.GG_LAYOUT_MAX_OUTPUTS,)
    assert outputs.base == native.dtype_of("struct gg_mesh_output")
    assert native.dtype_of("uint8_t") == np.uint8
    assert native.dtype_of("enum gg_result") == np.int32
    if native._gpu is not None:
        assert native.dtype_of("struct gg_device_info")["name"] == np.dtype("S256")


def test_pointer_refuses_what_c_would_misread() -> None:
    with pytest.raises(errors.ArgumentError, match="array of float32 where C wants uint32_t"):
        native.pointer(np.zeros(4, np.float32), "uint32_t")
    with pytest.raises(errors.ArgumentError, match="not C-contiguous"):
        native.pointer(np.zeros((4, 4), np.uint32)[:, 1], "uint32_t")
    fixed = np.zeros(4, np.uint32)
    fixed.flags.writeable = False
    assert len(native.pointer(fixed, "uint32_t")) == 4
    with pytest.raises(errors.ArgumentError, match="read-only"):
        native.pointer(fixed, "uint32_t", writable=True)
    assert native.pointer(None, "uint32_t") == native.ffi.NULL
    assert len(native.pointer(np.zeros(0, np.uint32), "uint32_t")) == 0


def test_words_outlive_their_call() -> None:
    words = native.words(native.lib.gg_layout_emit_task)
    assert words.dtype == np.uint32
    assert words[0] == 0x07230203
    header = words[:5]
    kept = header.tolist()
    del words
    gc.collect()
    assert header.tolist() == kept


def test_a_failure_becomes_its_exception_with_the_text_from_c() -> None:
    shape = native.ffi.new("struct gg_mesh_shape *", {"topology": 3})
    options, plan = native.ffi.new("struct gg_layout_options *"), native.ffi.new("struct gg_layout_plan *")
    with pytest.raises(errors.ArgumentError, match="topology") as caught:
        native.call(native.lib.gg_layout_plan, shape, options, plan)
    assert caught.value.code == "GG_ERR_ARGUMENT"
    assert "\n" not in str(caught.value)


def test_every_result_code_has_its_exception() -> None:
    failures = [code for code in native.enum_of("gg_result") if code != 0]
    raised = set()
    for code in failures:
        with pytest.raises(errors.GuestGpuError) as caught:
            native.check(code)
        assert caught.value.code == str(caught.value) == f"GG_{code.name}"
        raised.add(type(caught.value))
    assert len(raised) == len(failures) == len(errors.BY_CODE)
    native.check(0)
    with pytest.raises(errors.GuestGpuError, match="unknown result"):
        native.check(-1000)


def test_versions_agree_and_a_difference_is_refused() -> None:
    assert native.lib.GG_ABI_VERSION == native.lib.gg_abi_version() == native.ABI_VERSION
    with pytest.raises(errors.WrongVersion, match="_core has ABI version 7"):
        native._check_version("_core", 7)


def test_without_the_gpu_extension_the_advice_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_gpu", None)
    with pytest.raises(errors.NoGpuLibrary, match=r"scripts/setup-system\.sh") as caught:
        native.gpu()
    assert "\n" not in str(caught.value)
