# SPDX-License-Identifier: MIT
"""Guest programs with images, sets and constants, and their originals on the device: what is bound is what is read."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings import need_guest_driver

from guestgpu import errors, guest, native, reflect
from guestgpu.device import Device, Stage, compile_glsl_text
from guestgpu.guest import GuestProgram, Options
from guestgpu.native import ffi
from guestgpu.original import run_original

IMAGES = """#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0, rg16ui) uniform readonly uimage2D from;
layout(set = 1, binding = 2, r32ui) uniform writeonly uimage2DArray to[2];
layout(set = 3, binding = 1) uniform Table { uint add; };
layout(constant_id = 7) const uint factor = 2u;
void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(at, imageSize(from)))) {
        uvec2 texel = imageLoad(from, at).xy;
        imageStore(to[1], ivec3(at, 2), uvec4(texel.x * factor + texel.y + add));
    }
}
"""


def compiled(source: str, options: Options) -> tuple[Any, GuestProgram]:
    need_guest_driver()
    module = compile_glsl_text(source, "images", Stage.COMPUTE)
    return module, guest.compile_spirv(module, "images", options)


def test_images_sets_and_constants(device: Device, tmp_path: Path) -> None:
    texels = np.arange(13 * 7 * 2, dtype=np.uint16)
    options = Options(
        groups=(2, 1, 1),
        image_extent=(13, 7, 3),
        images={(1, 0, 0): texels.tobytes()},
        buffers={(3, 1, 0): np.array([1000], np.uint32).tobytes()},
        constants={7: 10},
    )
    module, program = compiled(IMAGES, options)
    assert [(b.set, b.binding, b.element) for b in program.bindings] == [(1, 0, 0), (1, 2, 0), (1, 2, 1), (3, 1, 0)]
    assert program.constants == (reflect.Constant(7, 4, 10),)
    before = program.results()
    assert before[0].shape == (1, 7, 13, 1)
    assert before[0].tobytes() == texels.tobytes()
    after = run_original(device, module, program)
    pairs = texels.astype(np.uint32).reshape(7, 13, 2)
    before[2][2, :, :, 0] = pairs[..., 0] * 10 + pairs[..., 1] + 1000
    for got, wanted in zip(after, before, strict=True):
        assert got.tolist() == wanted.tolist()

    program.save(tmp_path)
    again = guest.load_program(tmp_path)
    assert (again.bindings, again.constants) == (program.bindings, program.constants)
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["constants"] == [{"id": 7, "bytes": 4, "value": 10}]
    image = state["bindings"][1]["image"]
    assert (image["width"], image["height"], image["slices"], image["texel_bytes"]) == (13, 7, 3, 4)
    assert image["row_pitch"] >= 13 * 4
    assert image["slice_pitch"] >= 7 * image["row_pitch"]


def test_the_guest_sees_the_texels_at_their_pitches() -> None:
    given = np.arange(13 * 7 * 3, dtype=np.uint32) + 1
    _, program = compiled(IMAGES, Options(image_extent=(13, 7, 3), images={(1, 2, 1): given.tobytes()}))
    binding = program.bindings[2]
    assert program.results()[2].reshape(-1).tolist() == given.tolist()
    assert binding.image
    memory = next(w for a, w in program.memory().items() if a <= binding.address < a + len(w))
    image, texels = binding.image, program.results()[2]
    at = 2 * image.slice_pitch + 5 * image.row_pitch + 12 * 4
    assert memory[at : at + 4].view(np.uint32).tolist() == texels[2, 5, 12].tolist()
    memory[at] ^= 1
    assert np.argwhere(program.results({binding.address: memory, **rest(program, 2)})[2] != texels).tolist() == [
        [2, 5, 12, 0]
    ]


def rest(program: GuestProgram, but: int) -> dict[int, Any]:
    return {a: w for a, w in program.memory().items() if a != program.bindings[but].address}


def test_results_outside_the_windows_are_said() -> None:
    _, program = compiled(IMAGES, Options(image_extent=(13, 7, 3)))
    with pytest.raises(errors.ArgumentError, match="set 1 binding 2: its memory is in no window"):
        program.results(rest(program, 1))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (Options(images={(1, 0, 0): bytes(3)}), "set 1 binding 0: 3 bytes for an image of 2376"),
        (Options(images={(1, 1, 0): bytes(3)}), "set 1 binding 1 element 0: no such image"),
        (Options(image_extent=(0, 1, 1)), "images of 0 x 1 x 1"),
        (Options(constants={8: 1}), "no specialisation constant 8"),
    ],
)
def test_inputs_that_do_not_fit(options: Options, text: str) -> None:
    module = compile_glsl_text(IMAGES, "images", Stage.COMPUTE)
    with pytest.raises(errors.ArgumentError, match=text):
        guest.compile_spirv(module, "images", options)


def test_an_image_that_the_driver_lacks() -> None:
    need_guest_driver()
    module = compile_glsl_text(IMAGES, "images", Stage.COMPUTE)
    with pytest.raises(guest.GuestCompileError, match="no linear storage image of VkFormat 81, view type 1, 99999 x 7"):
        guest.compile_spirv(module, "images", Options(image_extent=(99999, 7, 1)))


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ("sampler2D s", "set 2 binding 5 is a sampler or sampled"),
        ("texture2D s", "set 2 binding 5 is a sampled image"),
        ("layout(r32ui) uimageCube s", "set 2 binding 5 is an image of SPIR-V's dimension 3"),
        ("layout(r32ui) uimageBuffer s", "set 2 binding 5 is an image of SPIR-V's dimension 5"),
        ("layout(r64ui) u64image2D s", "set 2 binding 5 is an image of SPIR-V's format 40"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(declaration: str, text: str) -> None:
    *format_, kind, name = declaration.split()
    inner = "".join(format_).removeprefix("layout(").removesuffix(")")
    where = f"layout(set = 2, binding = 5{', ' + inner if inner else ''})"
    use = {"sampler2D": "texelFetch(s, ivec2(0), 0)", "texture2D": "texelFetch(s, ivec2(0), 0)"}.get(
        kind, "imageLoad(s, ivec3(0))" if "Cube" in kind else f"imageLoad(s, {'0' if 'Buffer' in kind else 'ivec2(0)'})"
    )
    source = f"""#version 460
    #extension GL_EXT_shader_image_int64 : enable
    #extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable
    #extension GL_EXT_samplerless_texture_functions : enable
    layout(local_size_x = 1) in;
    {where} uniform {kind} {name};
    void main() {{ {use}; }}
    """
    module = compile_glsl_text(source, "refused", Stage.COMPUTE)
    with pytest.raises(errors.Unsupported, match=text):
        reflect.reflect(module)


# ---- gg_device_once() ----


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda p: p.bindings.pop(), errors.ArgumentError, "the module's set 3 binding 1 is not given"),
        (lambda p: p.bindings.pop(1), errors.ArgumentError, "resource 1: element 1 of set 1 binding 2"),
        (lambda p: p.bindings.append(p.bindings[0]), errors.ArgumentError, "resource 4: set 1 binding 0 a second time"),
        (lambda p: p.image(0, view=3), errors.ArgumentError, "resource 0: no image has view type 3 and 13 x 7 x 1"),
        (lambda p: p.image(0, view=0), errors.ArgumentError, "resource 0: no image has view type 0 and 13 x 7 x 1"),
        (lambda p: p.image(0, view=2, texel_bytes=5), errors.ArgumentError, "texels of 5 bytes"),
        (lambda p: p.image(0, format=124), errors.Unsupported, "no storage image of VkFormat 124, view type 1"),
        (lambda p: p.groups(0), errors.LimitExceeded, "0 workgroups; the device takes 1 to"),
    ],
)
def test_what_cannot_be_dispatched(change: Any, error: type[Exception], text: str, device: Device) -> None:
    module, program = compiled(IMAGES, Options(image_extent=(13, 7, 3)))
    changed = Changed(program)
    change(changed)
    with pytest.raises(error, match=text):
        run_original(device, module, changed.program())


class Changed:
    """A program whose parts a test changes; what it holds stays what the guest had."""

    def __init__(self, program: GuestProgram) -> None:
        self.original, self.bindings, self.dispatch = program, list(program.bindings), program.dispatch

    def image(self, index: int, **members: int) -> None:
        binding = self.bindings[index]
        assert binding.image
        layout = dataclasses.replace(binding.image, **members)
        self.bindings[index] = dataclasses.replace(binding, image=Odd(**dataclasses.asdict(layout)))

    def groups(self, x: int) -> None:
        self.dispatch = dataclasses.replace(self.dispatch, groups=(x, 1, 1))

    def program(self) -> GuestProgram:
        return dataclasses.replace(self.original, bindings=tuple(self.bindings), dispatch=self.dispatch)


class Odd(guest.ImageLayout):
    """Says what it is asked to say, and has texels for the 4 bytes that there are."""

    def texels(self, memory: Any) -> Any:
        return memory[: 4 * self.width * self.height].copy()


def test_tables_that_are_null_or_too_long(device: Device) -> None:
    words = compile_glsl_text("#version 460\nlayout(local_size_x = 1) in;\nvoid main() {}\n", "x", Stage.COMPUTE)
    held = native.pointer(words, "uint32_t")
    module = ffi.new("struct gg_module *", {"stage": int(Stage.COMPUTE), "words": held, "word_count": len(words)})
    for members, text in [
        ({"resource_count": 1}, "a table is NULL"),
        ({"push_words": 1}, "a table is NULL"),
        ({"push_words": 1 << 20, "push": ffi.new("uint32_t[1]")}, "1048576 push words; at most 256, 64 and"),
        ({"constant_count": 1, "constants": ffi.new("struct gg_constant[]", [{"size": 9}])}, "constant 0 has 9 bytes"),
        ({"resource_count": 1, "resources": ffi.new("struct gg_resource[1]")}, "resource 0: kind 0, set 0"),
        ({"module": ffi.NULL}, "NULL"),
    ]:
        params = ffi.new("struct gg_once_params *", {"module": module, "groups": [1, 1, 1], **members})
        with pytest.raises((errors.ArgumentError, errors.LimitExceeded), match=text):
            native.call(native.gpu().gg_device_once, device.c, params)
    params = ffi.new("struct gg_once_params *", {"module": module, "groups": [1, 1, 1]})
    native.call(native.gpu().gg_device_once, device.c, params)
    module.stage = int(Stage.VERTEX)
    with pytest.raises(errors.ArgumentError, match="the module's stage is 1, not compute"):
        native.call(native.gpu().gg_device_once, device.c, params)


def test_a_uniform_buffer_that_is_too_long(device: Device) -> None:
    module, program = compiled(IMAGES, Options(image_extent=(13, 7, 3), buffers={(3, 1, 0): bytes(1 << 20)}))
    if device.info.raw.max_storage_range < 1 << 20:
        pytest.skip("the device's limits are others")
    with pytest.raises(errors.LimitExceeded, match="resource 3: a buffer of 1048576 bytes; the device binds"):
        run_original(device, module, program)


def test_several_errors_of_a_shader_are_told_apart() -> None:
    source = "#version 460\nvoid main()\n{\n    int a = b;\n    int c = d;\n}\n"
    with pytest.raises(errors.CompileError) as caught:
        compile_glsl_text(source, "two.comp", Stage.COMPUTE)
    parts = str(caught.value).split("; ")
    assert parts[0].startswith("two.comp:4: error: 'b'")
    assert any(part.startswith("two.comp:5: error: 'd'") for part in parts)
    assert "\n" not in str(caught.value)
    assert not str(caught.value).endswith("; ")
