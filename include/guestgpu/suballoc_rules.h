/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_SUBALLOC_RULES_H
#define GUESTGPU_SUBALLOC_RULES_H

/*
 * Which size and alignment a resource gets: the placement rules of Direct3D 12 as pure functions, with and without
 * tight alignment. The text followed is "Direct3D 12 Tight Placed Resource Alignment" as of Agility SDK 1.619.4.
 *
 *                  classic (no tight flag)     tight, placed           tight, committed
 *                  smallest     largest        min   max               min    max
 *   buffer         64 KiB       64 KiB         8     256               4 KiB  4 KiB
 *   texture        4 KiB small  64 KiB         8     64 KiB, 4 small   4 KiB  64 KiB, 4 small
 *   MSAA texture   64 KiB small 4 MiB          8     4 MiB, 64 small   4 KiB  4 MiB, 64 small
 *
 * Small: unknown layout, neither render target nor depth stencil (but see `small_msaa`), and the most detailed mip,
 * counted in standard swizzle's tiles of the smaller alignment (4 KiB; MSAA 64 KiB), fits the larger (64 KiB; 4 MiB).
 * All layers of an array count, and no tile holds parts of two. Small MSAA also needs a device that has it.
 *
 * Asking takes two steps, as between runtime and driver: the description and the requested alignment become a
 * restriction; the driver (a callback, or numbers in a profile) answers alignment and size; the answer is checked.
 * No function here allocates, but for messages, or keeps state: same question, same answer.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

/* Numbers of the public interface. */
#define GG_SUBALLOC_FEATURE_TIGHT_ALIGNMENT    54    /* what an application asks its device for */
#define GG_SUBALLOC_RESOURCE_FLAG_TIGHT        1024  /* 0x400 of the application's resource flags */
#define GG_SUBALLOC_DRIVER_RESOURCE_FLAG_TIGHT 32768 /* 0x8000 of the driver's, since interface 0111 */
#define GG_SUBALLOC_DRIVER_CAPS_TIGHT_TIER     1089  /* type of capability that the driver is asked for */
#define GG_SUBALLOC_DRIVER_HEAP_FLAG_IMPLICIT  128   /* 0x80 of the driver's heap flags, since interface 0115 */
#define GG_SUBALLOC_DRIVER_INTERFACE_TIGHT     111
#define GG_SUBALLOC_DRIVER_INTERFACE_IMPLICIT  115

/* Alignments. */
#define GG_SUBALLOC_TIGHT_PLACED_MIN        8 /* keeps 64-bit atomics safe */
#define GG_SUBALLOC_TIGHT_BUFFER_MAX        256
#define GG_SUBALLOC_TIGHT_COMMITTED_MIN     4096 /* memory managers work in these pages */
#define GG_SUBALLOC_SMALL_ALIGNMENT         4096
#define GG_SUBALLOC_DEFAULT_ALIGNMENT       65536
#define GG_SUBALLOC_SMALL_MSAA_ALIGNMENT    65536
#define GG_SUBALLOC_DEFAULT_MSAA_ALIGNMENT  4194304
#define GG_SUBALLOC_HEAP_ALIGNMENT          65536
#define GG_SUBALLOC_HEAP_MSAA_ALIGNMENT     4194304
#define GG_SUBALLOC_HEAP_IMPLICIT_ALIGNMENT 4096

/* The size that a refused query reports; nothing of this size is ever given out. */
#define GG_SUBALLOC_FAILED_SIZE 0xffffffffffffffff

/* What buffers must be aligned to when used as ..., see gg_suballoc_floor(). */
#define GG_SUBALLOC_RAW_VIEW_ALIGNMENT               16
#define GG_SUBALLOC_AABB_ALIGNMENT                   8
#define GG_SUBALLOC_INSTANCE_DESCS_ALIGNMENT         16
#define GG_SUBALLOC_TRANSFORM_3X4_ALIGNMENT          16
#define GG_SUBALLOC_SHADER_RECORD_ALIGNMENT          32
#define GG_SUBALLOC_SHADER_TABLE_ALIGNMENT           64
#define GG_SUBALLOC_CLUSTER_TEMPLATE_ALIGNMENT       32
#define GG_SUBALLOC_CLAS_ALIGNMENT                   128
#define GG_SUBALLOC_OPACITY_MICROMAP_ARRAY_ALIGNMENT 128
#define GG_SUBALLOC_CONSTANT_UPDATE_ALIGNMENT        16
#define GG_SUBALLOC_CONSTANT_PLACEMENT_ALIGNMENT     256
#define GG_SUBALLOC_VIDEO_BITSTREAM_ALIGNMENT        256
#define GG_SUBALLOC_VIDEO_HISTOGRAM_ALIGNMENT        256

enum gg_suballoc_kind {
    GG_SUBALLOC_KIND_BUFFER = 0,
    GG_SUBALLOC_KIND_TEXTURE = 1, /* a 1D texture is one of height 1 */
    GG_SUBALLOC_KIND_MSAA = 2,
    GG_SUBALLOC_KIND_FORCE_32 = 0x7fffffff
};

enum gg_suballoc_layout {
    GG_SUBALLOC_LAYOUT_UNKNOWN = 0,
    GG_SUBALLOC_LAYOUT_ROW_MAJOR = 1,
    GG_SUBALLOC_LAYOUT_UNDEFINED_SWIZZLE = 2, /* of 64 KiB, as is the next */
    GG_SUBALLOC_LAYOUT_STANDARD_SWIZZLE = 3,
    GG_SUBALLOC_LAYOUT_FORCE_32 = 0x7fffffff
};

enum gg_suballoc_placement {
    GG_SUBALLOC_PLACEMENT_PLACED = 0,
    GG_SUBALLOC_PLACEMENT_COMMITTED = 1, /* with an implicit heap of its own */
    GG_SUBALLOC_PLACEMENT_RESERVED = 2,
    GG_SUBALLOC_PLACEMENT_FORCE_32 = 0x7fffffff
};

enum gg_suballoc_usage { /* bits, with the values of the public interface */
    GG_SUBALLOC_USAGE_RENDER_TARGET = 0x1,
    GG_SUBALLOC_USAGE_DEPTH_STENCIL = 0x2,
    GG_SUBALLOC_USAGE_CROSS_ADAPTER = 0x10,
    GG_SUBALLOC_USAGE_TIGHT = 0x400,
    GG_SUBALLOC_USAGE_FORCE_32 = 0x7fffffff
};

/* A description. All but width is 0 for a buffer; what is said to be 1 there may also be 1. */
struct gg_suballoc_resource {
    uint64_t width;           /* of a buffer in bytes, of a texture in texels */
    uint64_t alignment;       /* requested; 0: none */
    uint32_t kind;            /* enum gg_suballoc_kind */
    uint32_t height;          /* 1 for a buffer */
    uint32_t depth_or_layers; /* 1 for a buffer */
    uint32_t volume;          /* 1: a 3D texture, with a depth; 0: 2D, with layers */
    uint32_t mips;            /* 0: as many as there can be */
    uint32_t samples;         /* 2, 4, 8 or 16 for an MSAA texture; else 0 or 1 */
    uint32_t layout;          /* enum gg_suballoc_layout */
    uint32_t usage;           /* enum gg_suballoc_usage, bits */
    uint32_t placement;       /* enum gg_suballoc_placement */
    uint32_t block_width;     /* texels of a block of the format, 0 to 16; 0 means 1 */
    uint32_t block_height;
    uint32_t block_bytes; /* of a texture: 1 to 16 */
};

/* Which rule refused, in the order in which they are asked, and what is only noted. */
enum gg_suballoc_verdict {
    GG_SUBALLOC_VERDICT_OK = 0,
    GG_SUBALLOC_VERDICT_DESCRIPTION = 1,           /* a kind, layout, placement or usage that there is not */
    GG_SUBALLOC_VERDICT_ZERO_DIMENSION = 2,        /* width, and of a texture height, depth or layers */
    GG_SUBALLOC_VERDICT_BUFFER_SHAPE = 3,          /* a buffer with more than a width */
    GG_SUBALLOC_VERDICT_FORMAT = 4,                /* no block of 1 to 16 bytes; MSAA in blocks of several texels */
    GG_SUBALLOC_VERDICT_SAMPLES = 5,               /* a count that the kind does not have; a volume with samples */
    GG_SUBALLOC_VERDICT_MIPS = 6,                  /* more than there can be; MSAA with more than one */
    GG_SUBALLOC_VERDICT_SIZE_OVERFLOW = 7,         /* dimensions or their size overflow 64 bits, or reach 2^64 - 1 */
    GG_SUBALLOC_VERDICT_TIGHT_UNSUPPORTED = 8,     /* the tight flag on a device of tier 0 */
    GG_SUBALLOC_VERDICT_TIGHT_SWIZZLE = 9,         /* the tight flag with a layout of 64 KiB swizzle */
    GG_SUBALLOC_VERDICT_TIGHT_RESERVED = 10,       /* the tight flag on a reserved resource */
    GG_SUBALLOC_VERDICT_FLOOR_UNSUPPORTED = 11,    /* 1.618: any requested alignment with the tight flag */
    GG_SUBALLOC_VERDICT_NOT_POWER_OF_TWO = 12,     /* the requested alignment */
    GG_SUBALLOC_VERDICT_ABOVE_MAXIMUM = 13,        /* the requested alignment, of the table */
    GG_SUBALLOC_VERDICT_NOT_QUALIFIED = 14,        /* classic: an alignment that the resource does not qualify for */
    GG_SUBALLOC_VERDICT_DRIVER_REFUSED = 15,       /* the callback returned a failure */
    GG_SUBALLOC_VERDICT_DRIVER_ALIGNMENT = 16,     /* the driver's answer lies outside restriction and maximum */
    GG_SUBALLOC_VERDICT_DRIVER_SIZE = 17,          /* the driver's answer cannot hold the resource */
    GG_SUBALLOC_VERDICT_ALIGNMENT_OVERRIDDEN = 64, /* information: the requested alignment was raised */
    GG_SUBALLOC_VERDICT_CROSS_ADAPTER = 65, /* warning: cross adapter keeps 64 KiB, or 4 MiB, in spite of tight */
    GG_SUBALLOC_VERDICT_FORCE_32 = 0x7fffffff
};

/* A verdict in words, without a full stop; "unknown verdict" for others. Never NULL, never freed. */
const char *gg_suballoc_verdict_string(uint32_t verdict);

enum gg_suballoc_severity {
    GG_SUBALLOC_SEVERITY_INFO = 0,
    GG_SUBALLOC_SEVERITY_WARNING = 1,
    GG_SUBALLOC_SEVERITY_ERROR = 2,
    GG_SUBALLOC_SEVERITY_FORCE_32 = 0x7fffffff
};

/* What is to be said of a list of resources. */
struct gg_suballoc_note {
    uint32_t severity; /* enum gg_suballoc_severity */
    uint32_t verdict;  /* enum gg_suballoc_verdict */
    uint32_t index;    /* of the resource in the list */
    uint32_t reserved; /* 0 */
};

/* What the driver is asked: the description, and what the runtime says beside it. */
struct gg_suballoc_query {
    struct gg_suballoc_resource resource; /* without the tight flag of the application, and nothing requested */
    uint64_t restriction;                 /* the answer must not lie below */
    uint64_t maximum;                     /* of the tables, which a driver knows by itself */
    uint32_t resource_flags;              /* of the driver's interface: tight, if it reported the capability */
    uint32_t heap_flags;                  /* likewise: implicit, from its interface version on */
};

struct gg_suballoc_answer {
    uint64_t size;
    uint64_t alignment;
};

/*
 * A device. Without a callback the numbers answer: the largest of restriction and the kind's alignment; buffers are
 * as large as they are wide (classic: rounded up to 64 KiB), textures the sum of their mips, rounded up to the
 * alignment. A callback leaves the first three members, granularity and large_page in force. Zero: no tight alignment.
 */
struct gg_suballoc_profile {
    uint32_t tier;              /* of tight alignment: 0 none, 1 */
    uint32_t interface_version; /* of the driver: 111 for 0111; 0 means 115. Below 111 the tier counts as 0 */
    uint32_t msaa_64k;          /* 1: small MSAA textures can have 64 KiB */
    uint32_t buffer_alignment;  /* of tight resources, a power of two; 0: the table's maximum */
    uint32_t texture_alignment;
    uint32_t msaa_alignment;
    uint32_t granularity; /* not 0: a Vulkan device's bufferImageGranularity, see below */
    uint32_t reserved;    /* 0 */
    uint64_t large_page;  /* 0: none; else a power of two from 64 KiB on */
    int32_t (*driver)(void *user, const struct gg_suballoc_query *query, struct gg_suballoc_answer *answer);
    void *user;
};
/*
 * Large page: committed tight resources whose size is a multiple of it may be aligned to it, above the maximum.
 * A Vulkan device answers max(restriction, its own alignment, granularity), and no maximum binds it: it cannot do
 * better. A requested alignment above the maximum is right where the device answers just that by itself, so that
 * every description can be passed in again.
 */

/* Profiles by name: "tight", "tight-8", "none", "large-pages", "vulkan". */
int32_t gg_suballoc_profile(const char *name, struct gg_suballoc_profile *profile, char **message);
/* Their names: NULL from the last on. */
const char *gg_suballoc_profile_name(uint32_t index);

/* What the numbers of a profile answer, also for callbacks that begin with a right answer. Fails on overflow. */
int32_t gg_suballoc_profile_answer(const struct gg_suballoc_profile *profile, const struct gg_suballoc_query *query,
                                   struct gg_suballoc_answer *answer, char **message);

enum gg_suballoc_sdk {
    GG_SUBALLOC_SDK_V619 = 0, /* 1.619.4: a requested alignment with the tight flag is a floor */
    GG_SUBALLOC_SDK_V618 = 1, /* 1.618: it is refused, whatever it is */
    GG_SUBALLOC_SDK_FORCE_32 = 0x7fffffff
};

enum gg_suballoc_mode {
    GG_SUBALLOC_MODE_SPEC = 0,       /* a valid floor is honoured in the answer */
    GG_SUBALLOC_MODE_NATIVE_619 = 1, /* it is accepted, and the answer is the smallest alignment all the same */
    GG_SUBALLOC_MODE_FORCE_32 = 0x7fffffff
};

struct gg_suballoc_options {
    const struct gg_suballoc_profile *profile; /* NULL: "tight" */
    uint32_t sdk;                              /* enum gg_suballoc_sdk */
    uint32_t mode;                             /* enum gg_suballoc_mode */
    uint32_t small_msaa;       /* 0: small MSAA is no render target or depth stencil; 1: it is one, as in the field */
    uint32_t reserved_buffers; /* 1: a reserved buffer may have the tight flag, to no effect */
};

/* The first step. */
struct gg_suballoc_limits {
    struct gg_suballoc_query query; /* for the driver; query.restriction is the least that it may answer */
    uint64_t minimum;               /* of the tables; the maximum stands in the query */
    uint64_t tiles;                 /* of the most detailed mip; 0 for a buffer, 2^64 - 1 for too many to count */
    uint32_t small;                 /* 1: a small resource */
    uint32_t tight;                 /* 1: by the tight rules; 0: classic, cross adapter and reserved buffers included */
    uint32_t overrides;             /* 1: the requested alignment was raised */
    uint32_t verdict;               /* enum gg_suballoc_verdict: of description and requested alignment */
};

int32_t gg_suballoc_limits(const struct gg_suballoc_resource *resource, const struct gg_suballoc_options *options,
                           struct gg_suballoc_limits *limits, char **message);

/* Where a resource, or a list of them, goes. Refused: size 2^64 - 1, alignment 64 KiB, or 4 MiB for MSAA. */
struct gg_suballoc_info {
    uint64_t size; /* a tight buffer's is its width */
    uint64_t alignment;
    uint64_t offset;  /* in the list; 2^64 - 1 when the list is refused */
    uint32_t verdict; /* enum gg_suballoc_verdict */
    uint32_t index;   /* of the resource; in a refused total that of the first one to blame */
};

/* A list as a whole, laid out as the members of a C struct. */
struct gg_suballoc_total {
    struct gg_suballoc_info info; /* an empty list has size 0, alignment 1 */
    uint64_t best_size;           /* with the largest alignment first; size when refused */
    uint64_t saved;               /* size - best_size */
};

/*
 * The question. GG_OK means that it was answered, be the answer a refusal: look at total->info.verdict, and at the
 * resources' own, which stand also when another was refused. infos (NULL: not wanted) holds count, notes (NULL)
 * note_capacity; *note_count receives how many there are, at most 2 * count + 1.
 */
int32_t gg_suballoc_allocation_info(const struct gg_suballoc_resource *resources, uint32_t count,
                                    const struct gg_suballoc_options *options, struct gg_suballoc_info *infos,
                                    struct gg_suballoc_total *total, struct gg_suballoc_note *notes,
                                    uint32_t note_capacity, uint32_t *note_count, char **message);

/*
 * The same layout of plain sizes and alignments. offsets and order (NULL: not wanted) hold count; order receives the
 * best order: largest alignment first, else as given. GG_ERR_ARGUMENT names an item of size 0 or 2^64 - 1, or with an
 * alignment that is no power of two; GG_ERR_LIMIT one at which the size overflows.
 */
int32_t gg_suballoc_lay_out(const struct gg_suballoc_answer *items, uint32_t count, uint64_t *offsets, uint32_t *order,
                            struct gg_suballoc_total *total, char **message);

enum gg_suballoc_use { /* bits */
    GG_SUBALLOC_USE_RAW_VIEW = 0x1,
    GG_SUBALLOC_USE_BUILD_INPUT = 0x2, /* of acceleration structures */
    GG_SUBALLOC_USE_SHADER_TABLE = 0x4,
    GG_SUBALLOC_USE_CLAS = 0x8, /* and opacity micromaps */
    GG_SUBALLOC_USE_CONSTANT = 0x10,
    GG_SUBALLOC_USE_VIDEO_DECODE = 0x20,
    GG_SUBALLOC_USE_FORCE_32 = 0x7fffffff
};

/* The alignment to request for a buffer of several uses: the largest of their floors; 0 for none. */
int32_t gg_suballoc_floor(uint32_t uses, uint32_t *floor, char **message);

/* Of an explicit heap 64 KiB, 4 MiB when it may hold MSAA textures; of an implicit one 4 KiB. */
uint64_t gg_suballoc_heap_alignment(uint32_t may_hold_msaa, uint32_t is_implicit);

/* ---- the conformance suite ---- */

enum gg_suballoc_violation_kind {
    GG_SUBALLOC_VIOLATION_CROSS_ADAPTER = 1,    /* cross adapter without 64 KiB (4 MiB for MSAA) */
    GG_SUBALLOC_VIOLATION_WORSE = 2,            /* tight has a larger size or alignment than classic */
    GG_SUBALLOC_VIOLATION_BUFFER_ALIGNMENT = 3, /* a placed buffer above 256 */
    GG_SUBALLOC_VIOLATION_BUFFER_SIZE = 4,      /* a tight buffer whose size is not its width */
    GG_SUBALLOC_VIOLATION_NOT_IDEMPOTENT = 5,   /* asking twice gave two answers */
    GG_SUBALLOC_VIOLATION_OUTSIDE = 6,          /* below the restriction, above the maximum, or no power of two */
    GG_SUBALLOC_VIOLATION_REFUSED = 7,          /* no answer to a right question */
    GG_SUBALLOC_VIOLATION_KIND_FORCE_32 = 0x7fffffff
};

struct gg_suballoc_violation {
    struct gg_suballoc_resource resource;
    struct gg_suballoc_answer answer; /* what was wrong */
    uint64_t wanted;                  /* the alignment or size that it should have had, or the most of it */
    uint32_t kind;                    /* enum gg_suballoc_violation_kind */
    uint32_t reserved;                /* 0 */
};

struct gg_suballoc_conformance {
    uint32_t cases;      /* resources asked about */
    uint32_t violations; /* found; the first `capacity` of them are written */
};

/* Also judges Vulkan devices by the tables. On a device of tier 0 only classic answers are looked at. */
int32_t gg_suballoc_conform(const struct gg_suballoc_options *options, struct gg_suballoc_violation *violations,
                            uint32_t capacity, struct gg_suballoc_conformance *conformance, char **message);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
