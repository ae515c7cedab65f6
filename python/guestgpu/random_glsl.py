# SPDX-License-Identifier: MIT
"""Random compute shaders in GLSL with one right result: structured control flow with barriers, LDS, buffers, subgroups.

    source = generate(seed)

What makes the result independent of scheduling, subgroup width and device:

- LDS is written and read in phases, which barriers divide: in a writing phase a thread writes and reads words of its
  own, in a reading phase it reads any. Every structure ends in the phase in which it began.
- Barriers stand only where control flow is uniform: conditions are made of the workgroup's number, push constants,
  words at uniform addresses and uniform variables, which only uniform code assigns. Threads return on their own only
  after the last barrier.
- A thread stores to words of a buffer that are its own; what many threads share they change by one kind of atomic.
- Subgroup operations reach no further than eight lanes that are all there, or are joined by an atomic sum.
- Shift counts, indices and divisors are masked, loops are bounded, and all arithmetic is on integers that wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

_Item = TypeVar("_Item")

SLOTS = 4
"""Words of `data` that belong to a thread: i, i + THREADS, ..."""
THREADS = 2048
TABLE_WORDS = 1024
LDS_SLOTS = 2
KINDS = ("Add", "Xor", "Max", "Or", "Min")
"""Of atomics: word n of the shared sums takes KINDS[n % 5] only."""
SUMS = 10
VARIABLES, UNIFORMS = 5, 3
SIZES = (1, 8, 20, 32, 33, 64, 64, 72, 96, 128, 128, 192, 256)
_SPECIAL = (0, 1, 2, 3, 31, 32, 63, 255, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x00FF00FF)
_HEAD = """// SPDX-License-Identifier: MIT
// Random program, seed {seed}.
#version 460
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = {size}) in;
layout(std430, set = 0, binding = 0) buffer Data {{ uint data[]; }};
layout(std430, set = 0, binding = 1) readonly buffer Table {{ uint table[]; }};
layout(std430, set = 0, binding = 2) buffer Sums {{ uint sums[{sums}]; }};
layout(push_constant) uniform Push {{ uvec4 push; }};
shared uint words[{lds}];
shared uint totals[{sums}];
"""


@dataclass(frozen=True)
class Options:
    """What programs are made of."""

    statements: int = 14
    """About as many, before those of nested blocks' own."""
    depth: int = 3
    """Of nested structures."""
    barriers: bool = True
    subgroups: bool = True
    size: int = 0
    """Threads of a workgroup, at most THREADS / 4; 0: one of SIZES."""


def generate(seed: int, options: Options | None = None) -> str:
    """The program of this seed: the same text on every machine."""
    return _Generator(seed, options or Options()).program()


class _Random:
    """SplitMix64, so that programs do not depend on a library's version."""

    def __init__(self, seed: int) -> None:
        self._state = seed & 0xFFFFFFFFFFFFFFFF

    def word(self) -> int:
        mask = 0xFFFFFFFFFFFFFFFF
        self._state = (self._state + 0x9E3779B97F4A7C15) & mask
        x = self._state
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
        return x ^ x >> 31

    def below(self, limit: int) -> int:
        return self.word() % limit

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[self.below(len(items))]


@dataclass(frozen=True)
class _Place:
    """Where a statement stands.

    uniform   the whole workgroup comes here
    counters  loop counters in scope, and those that are the same for the workgroup
    loop      "" outside loops that may be left from here, "own" in loops of each thread, "all" in uniform ones
    """

    uniform: bool = True
    depth: int = 0
    counters: tuple[str, ...] = ()
    uniform_counters: tuple[str, ...] = ()
    loop: str = ""
    loop_reading: bool = False
    after_barriers: bool = False


@dataclass
class _Generator:
    seed: int
    options: Options
    random: _Random = field(init=False)
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    names: int = 0
    left: int = 0
    reading: bool = False
    """The phase of LDS: others' words may be read, and none written."""

    def __post_init__(self) -> None:
        self.random = _Random(self.seed)
        self.size = self.options.size or self.random.pick(SIZES)
        self.left = self.options.statements
        self.whole_eights = self.options.subgroups and self.size % 8 == 0

    # ---- the whole ----

    def program(self) -> str:
        functions = [self.function(n) for n in range(2)]
        self.begin()
        while self.left > self.options.statements // 4:
            self.statement(_Place())
        if self.options.barriers and not self.reading:
            self.barrier()
        while self.left > 0:
            self.statement(_Place(after_barriers=True))
        values = [f"v{n}" for n in range(VARIABLES)] + [f"u{n}" for n in range(UNIFORMS)]
        self.emit(f"data[i] = {values[0]};")
        for slot in range(1, SLOTS):
            self.emit(f"data[i + {slot * THREADS}u] = {' ^ '.join(values[slot::3])};")
        head = _HEAD.format(seed=self.seed, size=self.size, sums=SUMS, lds=LDS_SLOTS * self.size)
        return head + "".join(functions) + "\nvoid main()\n{\n" + "\n".join(self.lines) + "\n}\n"

    def begin(self) -> None:
        self.emit("uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x, group = gl_WorkGroupID.x;")
        self.emit(f"for (uint n = lane; n < {SUMS}u; n += {self.size}u)")
        self.emit("    totals[n] = 0u;")
        for slot in range(LDS_SLOTS):
            self.emit(f"words[lane + {slot * self.size}u] = table[(i + {slot * 77}u) & {TABLE_WORDS - 1}u];")
        for n in range(VARIABLES):
            source = f"data[i + {n * THREADS}u]" if n < SLOTS else f"table[i & {TABLE_WORDS - 1}u]"
            self.emit(f"uint v{n} = {source};")
        for n in range(UNIFORMS):
            self.emit(f"uint u{n} = push[{n}]{' + group' if n else ''};")
        self.emit("barrier();")

    def function(self, number: int) -> str:
        a, b = self.random.pick(("a + b", "a ^ (b << 3)", "a * 5u - b")), self.random.pick(("a > b", "(a & 3u) == 0u"))
        early = self.random.pick(("b", "~a", "a * b", "0u"))
        return (
            f"\nuint f{number}(uint a, uint b)\n{{\n    if ({b})\n        return {early};\n"
            f"    for (uint n = a & 3u; n > 0u; n--)\n        b = {a};\n    return a ^ b;\n}}\n"
        )

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def block(self, place: _Place, statements: int) -> None:
        """Statements in braces, which end in the phase in which they began."""
        self.emit("{")
        self.indent += 1
        before = self.reading
        for _ in range(statements):
            self.statement(place)
        if place.uniform and self.reading != before:
            self.barrier()
        self.indent -= 1
        self.emit("}")

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    # ---- expressions ----

    def constant(self) -> str:
        chosen = self.random.below(3)
        value = self.random.pick(_SPECIAL) if chosen else self.random.word() >> 32
        return f"{value:#x}u" if value > 99 else f"{value}u"

    def leaf(self, place: _Place) -> str:
        r = self.random
        choices: list[Callable[[], str]] = [
            lambda: f"v{r.below(VARIABLES)}",
            lambda: f"v{r.below(VARIABLES)}",
            lambda: f"u{r.below(UNIFORMS)}",
            self.constant,
            lambda: r.pick(("lane", "i", "group", "gl_NumWorkGroups.x", *place.counters)),
            lambda: f"table[v{r.below(VARIABLES)} & {TABLE_WORDS - 1}u]",
            lambda: f"data[i + {r.below(SLOTS) * THREADS}u]",
            lambda: self.shared_word(f"v{r.below(VARIABLES)}"),
        ]
        return r.pick(choices)()

    def shared_word(self, at: str) -> str:
        if not self.reading:
            return f"words[lane + {self.random.below(LDS_SLOTS) * self.size}u]"
        if self.random.chance(20):
            return f"totals[{self.random.below(SUMS)}]"
        return f"words[{at} % {LDS_SLOTS * self.size}u]"

    def uniform(self, place: _Place) -> str:
        """A value that is the same for the workgroup."""
        r = self.random
        leaves: list[Callable[[], str]] = [
            lambda: f"u{r.below(UNIFORMS)}",
            lambda: f"push[{r.below(4)}]",
            lambda: r.pick(("group", "gl_NumWorkGroups.x", *place.uniform_counters)),
            lambda: f"table[u{r.below(UNIFORMS)} & {TABLE_WORDS - 1}u]",
        ]
        if self.reading:
            leaves.append(lambda: f"words[{r.below(LDS_SLOTS * self.size)}]")
        a, b = r.pick(leaves)(), r.pick([*leaves, self.constant])()
        return r.pick((a, f"({a} + {b})", f"({a} ^ {b})", f"({a} * 3u + {b})", f"({a} >> ({b} & 31u))"))

    def expression(self, place: _Place, depth: int = 2) -> str:
        r = self.random
        if depth == 0 or r.chance(15):
            return self.leaf(place)
        a, b = (self.expression(place, depth - 1) for _ in range(2))
        return r.pick(
            (
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} ^ {b})", f"({a} & {b})", f"({a} | {b})", f"~{a}",
                f"({a} << ({b} & 31u))", f"({a} >> ({b} & 31u))", f"uint(int({a}) >> ({b} & 31u))",
                f"({a} / ({b} | 1u))", f"({a} % ({b} | 1u))", f"min({a}, {b})", f"max({a}, {b})",
                f"uint(min(int({a}), int({b})))", f"uint(max(int({a}), int({b})))",
                f"uint((int({a}) >> 1) / int(({b} >> 1) | 1u))", f"({self.condition(place)} ? {a} : {b})",
                f"bitfieldExtract({a}, int({b} & 15u), int({b} >> 8 & 15u))", f"bitfieldReverse({a})",
                f"bitfieldInsert({a}, {b}, int({a} & 15u), int({b} & 15u))", f"uint(bitCount({a}))",
                f"uint(findLSB({a}))", f"uint(findMSB({a}))", f"uint(findMSB(int({a})))", f"f{r.below(2)}({a}, {b})",
                f"(({a} << ({b} & 31u)) | ({a} >> ((32u - ({b} & 31u)) & 31u)))",
            )
        )  # fmt: skip

    def condition(self, place: _Place) -> str:
        r = self.random
        a, b = f"v{r.below(VARIABLES)}" if r.chance(60) else self.leaf(place), self.leaf(place)
        return r.pick(
            (
                f"({a} & {1 << r.below(4)}u) != 0u", f"{a} < {b}", f"int({a}) < int({b})", f"{a} % 3u == 1u",
                f"{a} >= {b} && ({b} & 1u) == 0u", f"({a} & 7u) == 2u || {b} > {a}",
                f"lane < {r.below(self.size) + 1}u",
            )
        )  # fmt: skip

    def uniform_condition(self, place: _Place) -> str:
        a, b = self.uniform(place), self.uniform(place)
        return self.random.pick((f"({a} & {1 << self.random.below(3)}u) != 0u", f"{a} < {b}", f"{a} % 3u == 1u"))

    # ---- statements ----

    def statement(self, place: _Place) -> None:
        self.left -= 1
        r = self.random
        choices: list[Callable[[_Place], None]] = [self.assign, self.assign, self.assign, self.store, self.share]
        if place.depth < self.options.depth and self.left > 0:
            choices += [self.branch, self.branch, self.loop, self.loop, self.switch]
            if place.uniform and not place.after_barriers:
                choices += [self.branch, self.loop, self.switch]
        if place.uniform:
            choices.append(self.assign_uniform)
            if self.options.barriers and not place.after_barriers:
                choices += [self.turn_phase] * (3 + place.depth)
            if self.whole_eights and not place.after_barriers:  # later some may have returned
                choices.append(self.subgroup)
        elif self.options.subgroups and not self.reading:
            choices.append(self.subgroup_sum)
        if place.loop:
            choices += [self.leave_loop, self.leave_loop]
        if place.after_barriers or (place.uniform and r.chance(15)):
            choices.append(self.leave)
        r.pick(choices)(place)

    def assign(self, place: _Place) -> None:
        operator = self.random.pick(("=", "=", "+=", "^=", "-=", "*="))
        self.emit(f"v{self.random.below(VARIABLES)} {operator} {self.expression(place)};")

    def assign_uniform(self, place: _Place) -> None:
        self.emit(f"u{self.random.below(UNIFORMS)} {self.random.pick(('=', '+=', '^='))} {self.uniform(place)};")

    def store(self, place: _Place) -> None:
        if self.random.chance(25):
            self.atomic("sums", place)
        else:
            self.emit(f"data[i + {self.random.below(SLOTS) * THREADS}u] = {self.expression(place)};")

    def atomic(self, name: str, place: _Place) -> None:
        word = self.random.below(SUMS)
        self.emit(f"atomic{KINDS[word % len(KINDS)]}({name}[{word}], {self.expression(place, 1)});")

    def share(self, place: _Place) -> None:
        """To LDS, in a writing phase; else from it."""
        if self.reading:
            self.emit(f"v{self.random.below(VARIABLES)} ^= {self.shared_word(self.expression(place, 1))};")
        elif self.random.chance(30):
            self.atomic("totals", place)
        else:
            self.emit(f"words[lane + {self.random.below(LDS_SLOTS) * self.size}u] = {self.expression(place)};")

    def barrier(self) -> None:
        self.emit("barrier();")
        self.reading = not self.reading

    def turn_phase(self, place: _Place) -> None:
        """Another phase, and a use of it."""
        if not self.reading:
            self.share(place)
        self.barrier()
        self.share(place)

    def subgroup(self, place: _Place) -> None:
        r, a = self.random, self.leaf(place)
        by, cluster, kind = 1 + r.below(7), r.pick((2, 4, 8)), r.pick(("Add", "Xor", "Min", "Max", "Or", "And"))
        swap, corner = r.pick(("Horizontal", "Vertical", "Diagonal")), r.below(4)
        self.emit(
            f"v{r.below(VARIABLES)} += "
            + r.pick(
                (
                    f"subgroupShuffleXor({a}, {by}u)", f"subgroupClustered{kind}({a}, {cluster}u)",
                    f"subgroupQuadSwap{swap}({a})", f"subgroupQuadBroadcast({a}, {corner}u)",
                    f"subgroupBroadcastFirst({self.uniform(place)})",
                )
            ) + ";"
        )  # fmt: skip

    def subgroup_sum(self, place: _Place) -> None:
        """Of the threads that are here: what each subgroup finds is added up."""
        name, word = self.name(), len(KINDS) * self.random.below(SUMS // len(KINDS))
        found = self.random.pick(("subgroupBallotBitCount(subgroupBallot(true))", f"subgroupAdd({self.leaf(place)})"))
        self.emit(f"uint {name} = {found};")
        self.emit("if (subgroupElect())")
        self.emit(f"    atomicAdd(totals[{word}], {name});")

    def branch(self, place: _Place) -> None:
        shared = place.uniform and self.random.chance(50)
        condition = self.uniform_condition(place) if shared else self.condition(place)
        inner = _within(place, shared)
        self.emit(f"if ({condition})")
        self.block(inner, 1 + self.random.below(3))
        if self.random.chance(50):
            self.emit("else")
            self.block(inner, 1 + self.random.below(3))

    def loop(self, place: _Place) -> None:
        r, name = self.random, self.name()
        shared = place.uniform and r.chance(60)
        bound = self.uniform(place) if shared else self.leaf(place)
        limit = r.pick((1, 3, 3, 7)) if place.depth == 0 else r.pick((1, 3))
        inner = _within(place, shared, name, "all" if shared else "own", self.reading)
        # The bound may change in the loop, which its counter still ends.
        match r.below(4):
            case 0:
                self.emit(f"for (uint {name} = 0u; {name} < ({bound} & {limit}u); {name}++)")
            case 1:
                self.emit(f"for (uint {name} = {bound} & {limit}u; {name} > 0u; {name}--)")
            case 2:
                condition = self.uniform_condition(place) if shared else self.condition(place)
                self.emit(f"for (uint {name} = 0u; ({condition}) && {name} < {limit + 1}u; {name}++)")
            case _:
                self.do_while(inner, name, bound, limit)
                return
        self.block(inner, 1 + r.below(3))

    def do_while(self, inner: _Place, name: str, bound: str, limit: int) -> None:
        self.emit(f"uint {name} = 0u;")
        self.emit("do")
        self.block(inner, 1 + self.random.below(3))
        self.emit(f"while (++{name} <= ({bound} & {limit}u));")

    def switch(self, place: _Place) -> None:
        r = self.random
        shared = place.uniform and r.chance(50)
        value = self.uniform(place) if shared else self.leaf(place)
        inner = _within(place, shared)
        if inner.loop == "all":  # a break here would only leave the switch
            inner = _outside_loop(inner)
        count = 2 + r.below(4)
        self.emit(f"switch ({value} & 7u) {{")
        for number in range(count):
            self.emit("default:" if number == count - 1 and r.chance(60) else f"case {number}u:")
            self.block(inner, 1 + r.below(2))
            if number < count - 1 and not r.chance(30):
                self.emit("    break;")
        self.emit("}")

    def leave_loop(self, place: _Place) -> None:
        if place.loop == "all" and self.reading != place.loop_reading:
            self.assign(place)
            return
        condition = self.uniform_condition(place) if place.loop == "all" else self.condition(place)
        self.emit(f"if ({condition})")
        self.emit(f"    {self.random.pick(('break', 'continue'))};")

    def leave(self, place: _Place) -> None:
        """The whole workgroup, or, after the last barrier, any thread."""
        everybody = not place.after_barriers
        self.emit(f"if ({self.uniform_condition(place) if everybody else self.condition(place)}) {{")
        self.emit(f"    data[i] = {self.expression(place, 1)};")
        self.emit("    return;")
        self.emit("}")


def _within(
    place: _Place, uniform: bool, counter: str = "", loop: str | None = None, loop_reading: bool | None = None
) -> _Place:
    """A place in a structure; a loop that others are in as well cannot be left from where only some are."""
    names = (counter,) if counter else ()
    kept = place.loop if uniform or place.loop == "own" else ""
    return _Place(
        uniform=uniform,
        depth=place.depth + 1,
        counters=place.counters + names,
        uniform_counters=place.uniform_counters + (names if uniform else ()),
        loop=kept if loop is None else loop,
        loop_reading=place.loop_reading if loop_reading is None else loop_reading,
        after_barriers=place.after_barriers,
    )


def _outside_loop(place: _Place) -> _Place:
    return _Place(
        place.uniform, place.depth, place.counters, place.uniform_counters, "", place.loop_reading, place.after_barriers
    )
