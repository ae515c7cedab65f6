# SPDX-License-Identifier: MIT
"""Random straight-line sequences of every translated opcode that needs no memory format, many in one program.

LLVM's own encodings with random operands (isa_samples.py) give text, whose registers are renamed: each type has its
bank, since a device may give another NaN than the guest, and a NaN's bits must not become an integer. A program
has one sequence a workgroup: it loads registers from memory, branches to the group's sequence, and stores registers.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from assembler import LLVM_MC, assemble
from isa_emitted import ROWS, row_name
from isa_samples import FORMS, Llvm, samples
from numpy.typing import NDArray

from guestgpu import translator
from guestgpu.errors import FormatError, Unsupported
from guestgpu.interpreter import Program

Words = NDArray[np.uint32]
BASE, AREA, OUT = 0x1_0000_0000, 0x2_0000_0000, 0x3_0000_0000
AREA_WORDS, LDS_OWN = 512, 4096

# First register and registers of each bank; doubles and pairs take two.
BANKS = {"i": (1, 5), "f": (6, 3), "h": (9, 3), "d": (12, 4), "l": (16, 4)}
WRITTEN, WRITTEN_SCALARS = {"i": 3, "f": 2, "h": 2, "d": 2, "l": 4}, 8
"""Of each bank, the first registers are written: what no sequence writes costs nothing where they meet."""
LOADED = 20
"""v0 is the lane, v1 to v19 have a bank; v40 takes what a device rounds in its own way; v60, v61 are addresses."""
DUMP, LANE_16, LANE = 40, 60, 61
FIRST_SCALAR, SCALARS = 4, 28
"""s4 to s31; s[36:39] is a V#, s[48:49] the group's own memory."""

APPROXIMATE = re.compile(r"v_(rcp|rsq|sqrt|exp|log|sin|cos)_(f32|f16|f64)$|v_rcp_iflag_f32$|v_rsq_f64$|v_rcp_f64$")
SKIPPED = re.compile(
    r"s_(branch|cbranch|call|setpc|swappc|getpc|endpgm|barrier|subvector|setreg|getreg|sendmsg|trap|sleep|setkill|sethalt"
    r"|round_mode|denorm_mode|memtime|memrealtime|rfe|code_end|icache|inst_prefetch|version|wait|clause)"
    r"|image_|exp$|v_interp|.*_format|.*buffer_gl|.*_src2_|ds_(gws|ordered)|v_clrexcp"
)
"""What other tests look at: control, hardware registers, memory formats."""
SKIPPED_TEXT = ("gds", " lds", "pops_exiting", "lds_direct", "ttmp", "tfe", "src_shared", "src_private", "flat_scratch")
FLOAT_SUM = re.compile(r"ds_add(_rtn)?_f32$")

TYPES = {"f32": "f", "f16": "h", "f64": "d", "i64": "l", "u64": "l", "b64": "l", "i32": "i", "u32": "i", "b32": "i",
         "i16": "i", "u16": "i", "b16": "i", "i24": "i", "u24": "i", "i8": "i", "u8": "i", "b128": "l"}  # fmt: skip
SHAPES: dict[str, str] = {
    # Banks of the vector operands, the destination first, where the name does not say them.
    "v_ldexp_f32": "ffi", "v_ldexp_f16": "hhi", "v_ldexp_f64": "ddi", "v_cmp_class_f64": "di", "v_cmpx_class_f64": "di",
    "v_cmp_class_f32": "fi", "v_cmpx_class_f32": "fi", "v_cmp_class_f16": "hi", "v_cmpx_class_f16": "hi",
    "v_frexp_exp_i32_f32": "if", "v_frexp_exp_i16_f16": "ih", "v_frexp_exp_i32_f64": "id", "v_trig_preop_f64": "ddi",
    "v_mad_u64_u32": "liil", "v_mad_i64_i32": "liil", "v_lshlrev_b64": "lil", "v_lshrrev_b64": "lil",
    "v_ashrrev_i64": "lil", "v_qsad_pk_u16_u8": "llil", "v_mqsad_pk_u16_u8": "llil", "v_mqsad_u32_u8": "",
    "v_cvt_pkrtz_f16_f32": "hff", "v_cvt_pknorm_i16_f32": "iff", "v_cvt_pknorm_u16_f32": "iff",
    "v_cvt_pknorm_i16_f16": "ihh", "v_cvt_pknorm_u16_f16": "ihh", "v_cvt_pk_u8_f32": "ifii", "v_cvt_off_f32_i4": "fi",
    "v_fma_mix_f32": "ffff", "v_fma_mixlo_f16": "hfff", "v_fma_mixhi_f16": "hfff", "v_pack_b32_f16": "hhh",
    "v_dot2_f32_f16": "fhhf", "v_dot2c_f32_f16": "fhh", "v_mad_u32_u16": "iiii", "v_mad_i32_i16": "iiii",
    "v_cvt_f32_ubyte0": "fi", "v_cvt_f32_ubyte1": "fi", "v_cvt_f32_ubyte2": "fi", "v_cvt_f32_ubyte3": "fi",
    "v_cvt_rpi_i32_f32": "if", "v_cvt_flr_i32_f32": "if", "v_cvt_norm_i16_f16": "ih", "v_cvt_norm_u16_f16": "ih",
    "v_sat_pk_u8_i16": "ii", "v_cvt_pk_u16_u32": "iii", "v_cvt_pk_i16_i32": "iii", "v_mad_mix_f32": "ffff",
    "v_dot2_i32_i16": "iiii", "v_dot2_u32_u16": "iiii", "v_dot4_i32_i8": "iiii", "v_dot4_u32_u8": "iiii",
    "v_dot8_i32_i4": "iiii", "v_dot8_u32_u4": "iiii", "v_dot4c_i32_i8": "iii",
}  # fmt: skip


@dataclass
class Picker:
    """Registers of one instruction: what was one register stays one, so that no limit on scalar sources is broken."""

    random: random.Random
    known: dict[str, str] = field(default_factory=dict)

    def scalar(self, text: str, written: bool = False) -> str:
        if text not in self.known:
            found = re.fullmatch(r"s\[(\d+):(\d+)\]", text)
            width = int(found[2]) - int(found[1]) + 1 if found else 1
            step, count = min(width, 4), max(WRITTEN_SCALARS, width) if written else SCALARS
            first = FIRST_SCALAR + step * self.random.randrange((count - width) // step + 1)
            self.known[text] = f"s[{first}:{first + width - 1}]" if found else f"s{first}"
        return self.known[text]

    def vector(self, text: str, bank: str, written: bool = False) -> str:
        found = re.fullmatch(r"v\[(\d+):(\d+)\]", text)
        width = int(found[2]) - int(found[1]) + 1 if found else 1
        first, count = BANKS[bank]
        count = max(WRITTEN[bank], width) if written else count
        step = 2 if width > 1 else 1
        at = first + step * self.random.randrange((count - width) // step + 1)
        return f"v[{at}:{at + width - 1}]" if found else f"v{at}"


def banks_of(name: str) -> str:
    """The bank of each vector operand in the text; of a comparison there are sources only."""
    if name in SHAPES:
        return SHAPES[name]
    types = [TYPES[part] for part in name.split("_") if part in TYPES]
    if name.startswith("v_cvt_") and len(types) > 1:
        return types[0] + types[1] * 3
    return types[-1] if types else "i"


OPERAND = re.compile(r"(?<![\w\[])([vs])(\d+|\[\d+:\d+\])(?!\w)")


def renamed(name: str, text: str, r: random.Random) -> str:
    """A vector or scalar instruction on the sequence's registers."""
    mnemonic, _, rest = text.partition(" ")
    operands = rest.split(", ")
    banks, pick, place, made = banks_of(name), Picker(r), 0, []
    if "_mix" in name:  # each source is a float, or a half of a register: neither reads a NaN of the other
        found = re.search(r"op_sel_hi:\[(.),(.),(.)\]", rest)
        banks = banks[0] + "".join("h" if bit == "1" else "f" for bit in (found.groups() if found else "000"))
    compares = name.startswith("v_cmp")
    carries = "_co_" in name or name.startswith(("v_div_scale", "v_mad_u64", "v_mad_i64"))
    for i, operand in enumerate(operands):
        is_mask = bool(re.match(r"(vcc|s\[?\d+|null|exec)", operand))
        if is_mask and ((carries and i == 1) or (compares and i == 0 and not name.startswith("v_cmpx"))):
            made.append(OPERAND.sub(lambda m: pick.scalar(m[0], True), operand))
            continue
        bank, dumps = banks[min(place, len(banks) - 1)], place == 0 and bool(APPROXIMATE.match(name))

        def one(found: re.Match[str], bank: str = bank, dumps: bool = dumps, written: bool = i == 0) -> str:
            if found[1] == "s":
                return pick.scalar(found[0], written)
            if dumps:
                return f"v[{DUMP}:{DUMP + 1}]" if ":" in found[2] else f"v{DUMP}"
            return pick.vector(found[0], bank, written)

        made.append(OPERAND.sub(one, operand))
        place += 1
    line = f"{mnemonic} {', '.join(made)}"
    if banks[0] in "fh" and not compares:  # a part of a NaN is not seen to be one, and its bits are the device's
        line = re.sub(r"dst_sel:\w+", lambda m: m[0] if banks[0] == "h" and "WORD_" in m[0] else "dst_sel:DWORD", line)
        line = line.replace("UNUSED_SEXT", "UNUSED_PAD")
    if name in ("v_fmamk_f16", "v_fmaak_f16"):  # the literal is a half
        line = re.sub(r"0x[0-9a-f]+", lambda m: f"0x{int(m[0], 16) & 0xFFFF:x}", line)
    return line


def _width(operand: str) -> int:
    found = re.match(r"v\[(\d+):(\d+)\]", operand)
    return int(found[2]) - int(found[1]) + 1 if found else 1


RETURNS = ("ds_read", "ds_swizzle", "ds_permute", "ds_bpermute", "ds_append", "ds_consume")


def on_lds(name: str, text: str, wave: int, r: random.Random) -> str:
    """A DS instruction on the lane's own 16 bytes, in one of four rows of them."""
    if name == "ds_nop":
        return name
    operands, pick = [o.split(" ")[0] for o in text.partition(" ")[2].split(", ")], Picker(r)
    returns = "_rtn" in name or name.startswith(RETURNS)
    registers = [o for o in operands if o.startswith("v")]
    made = [pick.vector(o, "l" if _width(o) > 1 else "i", returns and i == 0) for i, o in enumerate(registers)]
    addressed = not name.startswith(("ds_append", "ds_consume", "ds_swizzle", "ds_read_addtid", "ds_write_addtid"))
    if addressed and name not in ("ds_permute_b32", "ds_bpermute_b32"):
        made[1 if returns else 0] = f"v{LANE_16}"
    if "2" in name.split("_")[1] and "32" not in name.split("_")[1]:
        wide, far = "64" in name.split("_")[-1], "st64" in name
        unit = (512 if wide else 256) if far else (8 if wide else 4)
        rows = [16 * wave * r.randrange(4) // unit for _ in range(2)]
        if "write" in name or "wrxchg" in name:
            rows = [16 * wave // unit * k for k in r.sample(range(4), 2)]
        rows = [min(row, 255) for row in rows]
        return f"{name} {', '.join(made)} offset0:{rows[0]} offset1:{rows[1]}"
    if name == "ds_swizzle_b32":
        kinds = (r.getrandbits(15), 0x8000 | r.getrandbits(8), 0xC000 | r.getrandbits(10), 0xE000 | r.getrandbits(5))
        return f"{name} {', '.join(made)} offset:0x{r.choice(kinds):x}"
    return f"{name} {', '.join(made)} offset:{16 * wave * r.randrange(4)}"


def on_memory(name: str, text: str, r: random.Random) -> str:
    """GLOBAL and MUBUF on the lane's own 16 bytes of the group's memory."""
    mnemonic, _, rest = text.partition(" ")
    operands, pick = rest.split(", "), Picker(r)
    registers = [o.split(" ")[0] for o in operands]
    flags = " glc" if re.search(r"\bglc\b", rest) else ""
    buffer = mnemonic.startswith("buffer")
    loads = "_load_" in mnemonic
    returns = loads or ("atomic" in mnemonic and bool(flags))
    flags = flags if "atomic" in mnemonic else ""
    if buffer:
        data = pick.vector(registers[0], "l" if _width(registers[0]) > 1 else "i", returns)
        return f"{mnemonic} {data}, v{LANE}, s[36:39], 0 idxen offset:0{flags}"
    if "addtid" in mnemonic:
        return f"{mnemonic} {pick.vector('v0', 'i', True)}, s[48:49]"
    destination = [pick.vector(registers[0], "l" if _width(registers[0]) > 1 else "i", True)] if returns else []
    rest_of = registers[2:] if returns else registers[1:]
    data = [pick.vector(o, "l" if _width(o) > 1 else "i") for o in rest_of if o.startswith("v")] if not loads else []
    return f"{mnemonic} {', '.join([*destination, f'v{LANE_16}', *data[:1], 's[48:49]'])}{flags}"


def on_constants(name: str, r: random.Random) -> str:
    width = int((re.findall(r"x(\d+)$", name) or ["1"])[0])
    destination = Picker(r).scalar(f"s[0:{width - 1}]" if width > 1 else "s0", True)
    base = "s[36:39]" if "buffer" in name else "s[48:49]"
    return f"{name} {destination}, {base}, 0x{r.randrange(0, 0x740, 4):x}"


@cache
def texts(wave: int) -> dict[str, list[str]]:
    """Encodings of every opcode, as text."""
    llvm, found = Llvm("gfx1030", wave), dict[str, list[str]]()
    for form in FORMS:
        for code in range(form.opcodes):
            for words, text in samples(llvm, form, code, 8, seed=3):
                name = row_name(text)
                try:
                    translator.disassemble(words, "gfx1030", wave)
                except (FormatError, Unsupported):
                    continue  # stricter than LLVM
                if name not in ROWS or SKIPPED.match(name) or any(mark in text for mark in SKIPPED_TEXT):
                    continue
                if ROWS[name].format != "SMEM" or "_load_" in name:
                    found.setdefault(name, []).append(text)
    return _assembled(found, wave)


def _assembled(found: dict[str, list[str]], wave: int) -> dict[str, list[str]]:
    """Without what LLVM decodes but does not assemble: too many scalar sources, say."""
    lines = [(name, text) for name, every in found.items() for text in every]
    command = [str(LLVM_MC), "-triple=amdgcn", "-mcpu=gfx1030", "-filetype=null"]
    command.append(
        f"-mattr={'+wavefrontsize64,-wavefrontsize32' if wave == 64 else '+wavefrontsize32,-wavefrontsize64'}"
    )
    source = "\n".join(text for _, text in lines) + "\n"
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    wrong = {int(number) for number in re.findall(r"<stdin>:(\d+):\d+: error", done.stderr)}
    kept = dict[str, list[str]]()
    for i, (name, text) in enumerate(lines):
        if i + 1 not in wrong:
            kept.setdefault(name, []).append(text)
    return kept


def instruction(name: str, wave: int, r: random.Random) -> list[str]:
    """One instruction of an opcode, with what it needs before it."""
    row, text = ROWS[name], r.choice(texts(wave)[name])
    if row.format == "DS":
        base = [f"s_movk_i32 m0, {16 * r.randrange(8)}"] if re.search(r"append|consume|addtid", name) else []
        return [*base, on_lds(name, text, wave, r)]
    if row.format in ("FLAT", "GLOBAL", "MUBUF"):
        globals_ = [t for t in texts(wave)[name] if t.startswith(("global", "buffer"))]
        return [on_memory(name, r.choice(globals_), r)]
    if row.format == "SMEM":
        return [on_constants(name, r)]
    before = [f"s_movk_i32 m0, {r.randrange(3)}"] if "movrel" in name or "swaprel" in name else []
    return [*before, renamed(name, text, r)]


def opcodes(wave: int) -> list[str]:
    names = [n for n in texts(wave) if not FLOAT_SUM.match(n)]

    def usable(n: str) -> bool:
        if ROWS[n].format in ("FLAT", "GLOBAL", "MUBUF"):
            return any(t.startswith(("global", "buffer")) for t in texts(wave)[n])
        return "movrel" not in n and "swaprel" not in n and "mqsad_u32" not in n

    return [n for n in names if usable(n)]


def sequence(names: Sequence[str], wave: int, r: random.Random) -> list[str]:
    lines = []
    for name in names:
        lines += instruction(name, wave, r)
        if name.startswith("v_cmpx") or "exec" in lines[-1]:
            lines.append("s_mov_b64 exec, s[54:55]" if wave == 64 else "s_mov_b32 exec_lo, s54")
    return lines


SPECIAL_WORDS = [0, 1, 2, 31, 32, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
SPECIAL_F32 = [0, 0x80000000, 1, 0x807FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x3F000001, 0x40490FDB, 0x7F7FFFFF,
               0x7F800000, 0xFF800000, 0x7FC00000, 0x4B000001, 0xCF000000, 0x33800000]  # fmt: skip
SPECIAL_F16 = [0, 0x8000, 1, 0x83FF, 0x400, 0x3C00, 0xBC00, 0x3801, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x5640, 0x1400]
SPECIAL_F64 = [0, 1 << 63, 1, 1 << 52, 0x3FF0000000000000, 0xBFF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52,
               0xFFF0000000000000, 0x7FF8000000000000, 0x41E0000000000001, 0x3FE0000000000001, 3 << 61]  # fmt: skip


def _mixed(rng: np.random.Generator, special: Sequence[int], shape: tuple[int, ...], bits: int) -> NDArray[np.uint64]:
    chosen = np.asarray(special, np.uint64)[rng.integers(0, len(special), shape)]
    random_bits = rng.integers(0, 1 << bits, shape, np.uint64, endpoint=False) if bits < 64 else rng.integers(
        0, 1 << 63, shape, np.uint64) * np.uint64(2) + rng.integers(0, 2, shape).astype(np.uint64)  # fmt: skip
    return np.where(rng.random(shape) < 0.6, chosen, random_bits)


def registers_of(rng: np.random.Generator, groups: int, wave: int) -> Words:
    """Initial registers, shape (groups, LOADED + 1, wave): v1 to v19 by bank, then a row of scalars."""
    table = np.zeros((groups, LOADED + 1, wave), np.uint32)
    table[:] = _mixed(rng, SPECIAL_WORDS, table.shape, 32)
    first, count = BANKS["f"]
    table[:, first : first + count] = _mixed(rng, SPECIAL_F32, (groups, count, wave), 32)
    first, count = BANKS["h"]
    low, high = (_mixed(rng, SPECIAL_F16, (groups, count, wave), 16) for _ in range(2))
    table[:, first : first + count] = low | high << np.uint64(16)
    first, count = BANKS["d"]
    wide = _mixed(rng, SPECIAL_F64, (groups, count // 2, wave), 64)
    table[:, first : first + count : 2] = wide & np.uint64(0xFFFFFFFF)
    table[:, first + 1 : first + count : 2] = wide >> np.uint64(32)
    return table


def program_of(sequences: Sequence[Sequence[str]], wave: int, rsrc1: int = 0xF0 << 12) -> Program:
    """Group n runs sequence n. Only what may be written is stored: accesses of memory take a device long."""
    row, every = 4 * wave, "s_mov_b64 exec, -1" if wave == 64 else "s_mov_b32 exec_lo, -1"
    size = row * (LOADED + 1)
    lines = [
        "s_mov_b32 s50, s6", "s_mov_b64 s[56:57], s[0:1]", "s_mov_b64 s[58:59], s[2:3]", "s_mov_b64 s[48:49], s[4:5]",
        f"s_mul_i32 s51, s50, {4 * AREA_WORDS}", "s_add_u32 s48, s48, s51", "s_addc_u32 s49, s49, 0",
        "s_mov_b32 s36, s48", "s_and_b32 s37, s49, 0xffff", "s_or_b32 s37, s37, 0x100000", "s_movk_i32 s38, 0x40",
        "s_mov_b32 s39, 0x16fac",
        f"v_mov_b32 v{LANE}, v0", f"v_lshlrev_b32 v{LANE_16}, 4, v0", f"s_mul_i32 s51, s50, {size}",
        "v_lshlrev_b32 v62, 2, v0", "v_add_nc_u32 v62, s51, v62", f"v_mov_b32 v{DUMP}, 0",
    ]  # fmt: skip
    for n in range(1, LOADED + 1):
        register = 63 if n == LOADED else n
        lines += [f"v_add_nc_u32 v62, {row}, v62", f"global_load_dword v{register}, v62, s[56:57]"]
    lines += [f"v_readlane_b32 s{FIRST_SCALAR + i}, v63, {i}" for i in range(SCALARS)]
    lines += ["v_readlane_b32 s54, v63, 29", "v_readlane_b32 s55, v63, 30", "v_readlane_b32 vcc_lo, v63, 31",
              "s_mov_b32 vcc_hi, s5", "s_mov_b32 m0, 0"]  # fmt: skip
    first = BANKS["l"][0]
    for i in range(4):
        lines.append(f"ds_write_b128 v{LANE_16}, v[{first}:{first + 3}] offset:{16 * wave * i}")
    lines.append("s_mov_b64 exec, s[54:55]" if wave == 64 else "s_mov_b32 exec_lo, s54")
    for n in range(len(sequences)):
        lines += [f"s_cmp_eq_u32 s50, {n}", f"s_cbranch_scc1 L0_{n}"]
    lines.append("s_endpgm")
    for n, made in enumerate(sequences):
        lines += [f"L0_{n}:", f"s_cmp_lt_u32 s50, {n % 2}", *made, "s_branch L0"]
    lines += ["L0:", "s_cselect_b32 s60, 1, 0", "s_mov_b32 s61, m0", every, "v_mov_b32 v63, 0"]
    kept = [*(f"s{FIRST_SCALAR + i}" for i in range(SCALARS)), "vcc_lo", "vcc_hi", "s60", "s61"]
    lines += [f"v_writelane_b32 v63, {name}, {i}" for i, name in enumerate(kept)]
    lines += [
        f"s_mul_i32 s51, s50, {size}", "v_lshlrev_b32 v62, 2, v0", "v_add_nc_u32 v62, s51, v62",
        f"ds_read_b32 v59, v{LANE_16}", "s_waitcnt lgkmcnt(0)", "global_store_dword v62, v59, s[58:59]",
    ]  # fmt: skip
    for n in range(1, LOADED + 1):
        lines.append(f"v_add_nc_u32 v62, {row}, v62")
        if n == LOADED or any(first <= n < first + WRITTEN[bank] for bank, (first, _) in BANKS.items()):
            lines.append(f"global_store_dword v62, v{63 if n == LOADED else n}, s[58:59]")
    lines.append("s_endpgm")
    data = [word for address in (BASE, OUT, AREA) for word in (address & 0xFFFFFFFF, address >> 32)]
    return Program(words=assemble("\n".join(lines), wave), wave=wave, vgprs=64, threads=(wave,),
                   lds_bytes=LDS_OWN, rsrc1=rsrc1, rsrc2=6 << 1 | 1 << 7, user_data=tuple(data))  # fmt: skip
