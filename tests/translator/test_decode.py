# SPDX-License-Identifier: MIT
"""Decoder, disassembler and opcode table against LLVM 19: every opcode with random fields, and every corpus program."""

import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from isa_samples import FORMS, Form, Llvm, samples

from guestgpu import errors, native, translator
from guestgpu.native import ffi, lib

CORPUS = Path(__file__).resolve().parents[2] / "kernels" / "translator" / "opencl"
TARGETS = [("gfx1030", 32), ("gfx1030", 64), ("gfx1013", 64)]
QUICK_FIRST = [TARGETS[0], *(pytest.param(*target, marks=pytest.mark.slow) for target in TARGETS[1:])]
"""`make check` takes the first."""
SAMPLES = 24  # of an opcode in a form, for each target

# LLVM decodes more than we do: it overlooks bits that mean nothing in the operation. These reasons are ours.
STRICTER = {
    "a second word for a source that is not there",
    "bits of a source that is not there",
    "neg or abs of a source that has none",
    "clamp, which the operation does not have",
    "omod, which the operation does not have",
    "op_sel, which the operation does not have",
    "op_sel of a source that has none",
    "op_sel of a destination that has none",
    "reserved bits of SDWA",
    "a scalar register is wanted",  # a comparison into shared_base
    "a vector register is wanted",
    "a register range leaves its file",  # image data: LLVM then writes another size
    "a multisampled image, which has neither filter nor levels",
    "a dmask that the atomic does not have",
    "d16, tfe or lwe, which the operation does not have",
    "fewer addresses than the image's dimension needs",
}


NO_OP_SEL_IN_LLVM = {f"v_{name}" for name in ("mul_lo_u16", "lshlrev_b16", "lshrrev_b16", "ashrrev_i16", "max_u16",
                                              "max_i16", "min_u16", "min_i16")}  # fmt: skip
"""The hardware has it (RADV's compiler uses it), LLVM leaves the bits out of the text."""


def text_of(line: str) -> str:
    """The instruction of a line of disassemble()."""
    found = re.fullmatch(r"[0-9a-f]{4,}:(?: [0-9a-f]{8})+ +(\S.*)", line)
    assert found, line
    return found[1]


def disassemble_one(words: tuple[int, ...], gpu: str, wave: int) -> tuple[str, str]:
    """The reason of a refusal, or the text."""
    try:
        lines = translator.disassemble(words, gpu, wave).splitlines()
    except (errors.FormatError, errors.Unsupported) as error:
        return str(error).rsplit(": ", 1)[1], ""
    assert len(lines) == 1, (words, lines)
    return "", text_of(lines[0])


def llvm_is_wrong(form: Form, text: str, ours: str) -> bool:
    """LLVM has no register class for these and writes another size, or all the addresses there could be."""
    gather = text.startswith("image_gather4") and " tfe" in text and " d16" in text
    return gather or (form.name.startswith("MIMG NSA") and re.search(r" \[v\d+\],", ours) is not None)


@pytest.mark.parametrize(("gpu", "wave"), QUICK_FIRST)
def test_every_opcode_is_written_as_llvm_writes_it(gpu: str, wave: int, capsys: pytest.CaptureFixture[str]) -> None:
    llvm = Llvm(gpu, wave)
    compared: Counter[str] = Counter()
    opcodes = set()
    never = []
    stricter: Counter[str] = Counter()
    for form in FORMS:
        for code in range(form.opcodes):
            found = samples(llvm, form, code, SAMPLES, seed=1)
            equal = 0
            for words, text in found:
                refused, ours = disassemble_one(words, gpu, wave)
                if refused:
                    assert refused in STRICTER or text == "v_illegal", (form.name, text, refused)
                    stricter[refused] += 1
                elif not llvm_is_wrong(form, text, ours):
                    if ours.split()[0] in NO_OP_SEL_IN_LLVM:
                        ours = re.sub(r" op_sel:\[[01,]+\]", "", ours)
                    assert ours == text, f"{form.name} {code:#x}: {[f'{word:08x}' for word in words]}"
                    equal += 1
            if equal:
                opcodes.add((form.name.split()[0].removesuffix("B"), code))
                compared[form.name] += equal
            elif found and found[0][1] != "v_illegal":
                never.append((form.name, code, found[0][1]))
    # Operations without operands have SDWA and DPP forms to no purpose; ours refuses them. Images: in some form.
    missing = [item for item in never if not (item[0].startswith("MIMG") and ("MIMG", item[1]) in opcodes)]
    assert {text for _, _, text in missing} <= {"v_nop", "v_pipeflush", "v_clrexcp"}, missing
    assert all("SDWA" in form or "DPP" in form for form, _, _ in missing), missing
    total = compared.total()
    with capsys.disabled():
        print(f"\n{gpu} wave{wave}: {len(opcodes)} opcodes, {total} encodings equal, {stricter.total()} refused by us")
    assert len(opcodes) > 1300
    assert stricter.total() < total / 5
    assert not [form.name for form in FORMS if compared[form.name] < SAMPLES]


def rows_of(gpu: str) -> dict[str, set[int]]:
    """Opcode numbers of the table by format, as the encodings have them."""
    numbers = defaultdict(set)
    bases = {"VOPC": 0, "VOP2": 0x100, "VOP1": 0x180, "VINTRP": 0x200}
    no_vop3 = 1 << 25  # GG_OPF_NO_VOP3 of csrc/translator/isa.h
    atomic = 1 << 16
    for index, row in enumerate(translator.opcodes()):
        if row.only not in ("", gpu):
            continue
        flags = flags_of(index)
        numbers[row.format].add(row.code)
        # v_nop and its like have a 64-bit form, though it is never written so.
        if row.format in bases and (not flags & no_vop3 or row.name in ("v_nop", "v_pipeflush", "v_clrexcp")):
            numbers["VOP3"].add(bases[row.format] + row.code)
        if row.format == "FLAT":
            numbers["GLOBAL"].add(row.code)
            if not flags & atomic:
                numbers["SCRATCH"].add(row.code)
    return numbers


def flags_of(index: int) -> int:
    row = ffi.new("struct gg_opcode *")
    assert lib.gg_translator_opcode(index, row, ffi.NULL) == lib.GG_OK
    return int(row.flags)


@pytest.mark.parametrize("gpu", ["gfx1030", "gfx1013"])
def test_the_table_has_the_opcodes_that_llvm_has(gpu: str) -> None:
    llvm = Llvm(gpu, 64)
    ours = rows_of(gpu)
    theirs = defaultdict(set)
    for form in FORMS:
        name = form.name.split()[0].replace("VOP3B", "VOP3")
        if name != "EXP":  # its number is a target
            theirs[name] |= {code for code in range(form.opcodes) if samples(llvm, form, code, 1, seed=1)}
    theirs["VOP2"].discard(0)  # v_illegal
    del ours["EXP"]
    for name in theirs:
        assert theirs[name] == ours[name], (name, theirs[name] ^ ours[name])
    assert ours.keys() == theirs.keys()


@pytest.mark.parametrize("gpu", ["gfx1030", "gfx1013"])
def test_no_two_rows_match_one_word(gpu: str) -> None:
    seen: dict[tuple[str, int], str] = {}
    names = set()
    for row in translator.opcodes():
        if row.only not in ("", gpu):
            continue
        form, code = row.format, row.code
        # The 64-bit form has VOPC, VOP2, VOP1 and VINTRP among its numbers; GLOBAL has FLAT's.
        base = {"VOPC": 0, "VOP2": 0x100, "VOP1": 0x180, "VINTRP": 0x200}.get(form)
        places = [(form, code)] if base is None else [(form, code), ("VOP3", base + code)]
        for place in [("FLAT", code)] if form == "GLOBAL" else places:
            assert place not in seen, (row.name, seen[place])
            seen[place] = row.name
        assert row.name not in names
        names.add(row.name)
    assert len(names) > 1000


def compile_corpus(folder: Path, gpu: str, wave: int, level: int) -> list[tuple[str, np.ndarray]]:
    """Name and code of each corpus program: a relocatable object is enough."""
    programs = []
    for source in sorted(CORPUS.glob("*.cl")):
        target = folder / f"{source.stem}.o"
        command = ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-Xclang", "-cl-ext=+cl_khr_fp64,+__cl_clang_bitfields"]
        command += ["-nogpulib", "-target", "amdgcn-amd-amdhsa", f"-mcpu={gpu}", f"-DWAVE={wave}", "-ffast-math"]
        command += [f"-O{level}", "-mwavefrontsize64" if wave == 64 else "-mno-wavefrontsize64", "-c", "-o"]
        subprocess.run([*command, target, source], check=True, capture_output=True)
        programs.append((source.stem, text_section(target.read_bytes())))
    return programs


def text_section(elf: bytes) -> np.ndarray:
    """The words of .text, the one section of an object that is executable and not empty."""
    offset, count = int.from_bytes(elf[40:48], "little"), int.from_bytes(elf[60:62], "little")
    headers = [np.frombuffer(elf, "<u8", 8, offset + 64 * i) for i in range(count)]
    sizes = [(int(header[3]), int(header[4])) for header in headers if int(header[1]) & 4 and header[4]]
    assert len(sizes) == 1
    start, size = sizes[0]
    return np.frombuffer(elf[start : start + size], "<u4")


@pytest.mark.parametrize("level", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("gpu", "wave"), QUICK_FIRST)
def test_corpus_is_written_as_llvm_writes_it(tmp_path: Path, gpu: str, wave: int, level: int) -> None:
    llvm = Llvm(gpu, wave)
    programs = compile_corpus(tmp_path, gpu, wave, level)
    assert len(programs) == 28
    instructions = 0
    for name, words in programs:
        lines = translator.disassemble(words, gpu, wave).splitlines()
        at = 0
        for line in lines:
            found = llvm(tuple(int(word) for word in words[at : at + 5]))
            assert found, (name, line)
            assert int(line.split(":")[0], 16) == 4 * at
            assert text_of(line) == found[1], (name, line)
            at += found[0]
        assert at == len(words)
        assert translator.count_instructions(words, gpu, wave) == len(lines)
        instructions += len(lines)
    assert instructions > 3000


def test_a_program_cut_anywhere_is_refused_cleanly(tmp_path: Path) -> None:
    words = dict(compile_corpus(tmp_path, "gfx1030", 32, 2))["sha256"]
    whole = translator.disassemble(words).splitlines()
    ends = {int(line.split(":")[0], 16) // 4 for line in whole} | {len(words)}
    refused = 0
    for count in range(len(words)):
        if count in ends:
            assert translator.disassemble(words[:count]).splitlines() == whole[: sum(end < count for end in ends)]
            continue
        refused += 1
        with pytest.raises(errors.FormatError, match=r"offset 0x[0-9a-f]+: word 0x[0-9a-f]{8}: .*the program ends"):
            translator.disassemble(words[:count])
    assert refused == len(words) - len(whole)
    assert refused > 40


@pytest.mark.parametrize(
    ("words", "raised", "text"),
    [
        ([0xBF800000, 0xBE840405], errors.FormatError, r"offset 0x4: word 0xbe840405: s_mov_b64: .*not aligned"),
        ([0xBE84040B | 104], errors.FormatError, "s_mov_b64: a register range leaves its file"),
        ([0xBE8403D1], errors.FormatError, "s_mov_b32: a reserved source"),
        ([0xBE8403FF], errors.FormatError, "s_mov_b32: the program ends before the literal"),
        ([0xF4080001], errors.FormatError, "s_load_dwordx4: the program ends within the instruction"),
        ([0x00000000], errors.Unsupported, "offset 0x0: word 0x00000000: no such opcode in this target"),
        ([0xC4000000], errors.Unsupported, "no such encoding"),
        ([0xCC8F0004, 0], errors.Unsupported, "no such encoding"),
        ([0xF4400000, 0], errors.Unsupported, "no such opcode in this target"),  # s_store_dword: gfx1013 only
        ([0x7E0802FA, 0xFF014203], errors.FormatError, "v_mov_b32: a reserved DPP control"),
        ([0x360806F9, 0x06060703], errors.FormatError, "v_and_b32: a reserved SDWA selection"),
        ([0xD5010004, 0x01FA0902], errors.FormatError, "v_cndmask_b32: EXEC as a mask source"),
        ([0xD8740000, 1], errors.FormatError, "ds_gws_barrier: a GDS operation without gds"),
        ([0xDC302000, 2], errors.FormatError, "flat_load_dword: lds"),
        ([0xF80000A0, 0], errors.FormatError, "exp: a reserved export target"),
        ([0xF0000F02, 0x00010400], errors.FormatError, "image_load: the program ends within"),
    ],
)
def test_bad_words_are_refused_by_name(words: list[int], raised: type[Exception], text: str) -> None:
    with pytest.raises(raised, match=text) as caught:
        translator.disassemble(words)
    assert "\n" not in str(caught.value)


def test_lines_and_arguments() -> None:
    assert translator.disassemble([]) == ""
    assert translator.disassemble([0x7E020280, 0xBE8203FF, 0x12345678]) == (
        "0000: 7e020280           v_mov_b32_e32 v1, 0\n0004: be8203ff 12345678  s_mov_b32 s2, 0x12345678\n"
    )
    # Wave size is not in the words.
    compare = [0x7D0A0680]
    assert text_of(translator.disassemble(compare, wave=32).strip()) == "v_cmp_ne_i32_e32 vcc_lo, 0, v3"
    assert text_of(translator.disassemble(compare, wave=64).strip()) == "v_cmp_ne_i32_e32 vcc, 0, v3"
    store = [0xF4400041, 0xFA000000]
    assert "s_store_dword" in translator.disassemble(store, "gfx1013")
    with pytest.raises(errors.ArgumentError, match="gfx900"):
        translator.disassemble([0], "gfx900")
    with pytest.raises(errors.ArgumentError, match="waves of 48"):
        translator.disassemble([0xBF800000], wave=48)
    beyond = lib.gg_translator_opcode_count()
    with pytest.raises(errors.ArgumentError, match=f"opcode {beyond}: there are {beyond}"):
        native.call(lib.gg_translator_opcode, beyond, ffi.new("struct gg_opcode *"))


def test_coverage_table_has_every_opcode() -> None:
    rows = translator.opcodes()
    table = translator.coverage({row.name: (True, "") for row in rows})
    assert all(f"| `{row.name}` |" in table for row in rows)
    assert f"| all | {len(rows)} | {len(rows)} |" in table
