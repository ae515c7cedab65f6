/* SPDX-License-Identifier: MIT */
#include <guestgpu/gpu.h>

#include "message.h"

#include <meshoptimizer.h>

#include <inttypes.h>
#include <math.h>

/* The library's asserts are compiled out: it must never see what these checks refuse. */
#define MAX_INDICES   0x7ffffffdu /* a multiple of 3; meshoptimizer counts with 32 bits */
#define MAX_VERTICES  255u
#define MAX_TRIANGLES 512u

_Static_assert(sizeof(struct meshopt_Meshlet) == 4 * sizeof(uint32_t), "a meshlet is four words");
_Static_assert(offsetof(struct meshopt_Meshlet, vertex_offset) == 0, "first entry in vertices");
_Static_assert(offsetof(struct meshopt_Meshlet, triangle_offset) == 4, "first byte in triangles");
_Static_assert(offsetof(struct meshopt_Meshlet, vertex_count) == 8, "vertex count");
_Static_assert(offsetof(struct meshopt_Meshlet, triangle_count) == 12, "triangle count");

static int32_t check_limits(uint64_t index_count, uint32_t max_vertices, uint32_t max_triangles, char **message)
{
    if (!index_count || index_count % 3)
        return gg_fail(message, GG_ERR_ARGUMENT, "meshlets: %" PRIu64 " indices are not a multiple of 3 above 0",
                       index_count);
    if (index_count > MAX_INDICES)
        return gg_fail(message, GG_ERR_LIMIT, "meshlets: %" PRIu64 " indices are more than %u", index_count,
                       MAX_INDICES);
    if (max_vertices < 3 || max_vertices > MAX_VERTICES)
        return gg_fail(message, GG_ERR_ARGUMENT, "meshlets: max_vertices %u is not 3 to %u", max_vertices,
                       MAX_VERTICES);
    if (!max_triangles || max_triangles > MAX_TRIANGLES || max_triangles % 4)
        return gg_fail(message, GG_ERR_ARGUMENT, "meshlets: max_triangles %u is not a multiple of 4 from 4 to %u",
                       max_triangles, MAX_TRIANGLES);
    return GG_OK;
}

int32_t gg_meshlets_bound(uint64_t index_count, uint32_t max_vertices, uint32_t max_triangles, uint64_t *bound,
                          char **message)
{
    gg_succeed(message);
    if (!bound)
        return gg_fail(message, GG_ERR_ARGUMENT, "meshlets: bound is NULL");
    int32_t result = check_limits(index_count, max_vertices, max_triangles, message);
    if (!result)
        *bound = meshopt_buildMeshletsBound((size_t)index_count, max_vertices, max_triangles);
    return result;
}

int32_t gg_meshlets_build(const uint32_t *indices, uint64_t index_count, const float *positions, uint64_t vertex_count,
                          uint32_t max_vertices, uint32_t max_triangles, uint32_t *meshlets, uint32_t *vertices,
                          uint8_t *triangles, uint64_t *meshlet_count, char **message)
{
    gg_succeed(message);
    if (!indices || !positions || !meshlets || !vertices || !triangles || !meshlet_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "meshlets: an array or meshlet_count is NULL");
    int32_t result = check_limits(index_count, max_vertices, max_triangles, message);
    if (result)
        return result;
    if (vertex_count > MAX_INDICES)
        return gg_fail(message, GG_ERR_LIMIT, "meshlets: %" PRIu64 " vertices are more than %u", vertex_count,
                       MAX_INDICES);
    for (uint64_t i = 0; i < index_count; i++)
        if (indices[i] >= vertex_count)
            return gg_fail(message, GG_ERR_ARGUMENT,
                           "meshlets: index %" PRIu64 " is %u; there are %" PRIu64 " vertices", i, indices[i],
                           vertex_count);
    for (uint64_t i = 0; i < vertex_count * 3; i++)
        if (!isfinite(positions[i]))
            return gg_fail(message, GG_ERR_ARGUMENT,
                           "meshlets: coordinate %" PRIu64 " of vertex %" PRIu64 " is not finite", i % 3, i / 3);

    struct meshopt_Meshlet *built = (struct meshopt_Meshlet *)(void *)meshlets;
    const size_t count =
        meshopt_buildMeshlets(built, vertices, triangles, indices, (size_t)index_count, positions, (size_t)vertex_count,
                              3 * sizeof *positions, max_vertices, max_triangles, 0.0f);
    uint64_t covered = 0;
    for (size_t i = 0; i < count; i++)
        covered += (uint64_t)built[i].triangle_count * 3;
    /* Distances that overflow a float make the library stop early. */
    if (covered != index_count)
        return gg_fail(message, GG_ERR_LIMIT,
                       "meshlets: coordinates are too large; %" PRIu64 " of %" PRIu64 " triangles were placed",
                       covered / 3, index_count / 3);
    *meshlet_count = count;
    return GG_OK;
}
