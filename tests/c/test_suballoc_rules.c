/* SPDX-License-Identifier: MIT */
/* The placement rules as C calls them: refusals of misuse, outputs that may be left out, callbacks. */
#include <guestgpu/suballoc_rules.h>

#include "expect.h"

#define TIGHT_BUFFER(bytes)                                                                                            \
    (struct gg_suballoc_resource) { .width = (bytes), .usage = GG_SUBALLOC_USAGE_TIGHT }

static void test_misuse(void)
{
    struct gg_suballoc_resource buffer = TIGHT_BUFFER(1000);
    struct gg_suballoc_options wrong = {.mode = 7};
    struct gg_suballoc_total total;
    struct gg_suballoc_limits limits;
    struct gg_suballoc_profile profile;
    struct gg_suballoc_conformance conformance;
    struct gg_suballoc_query query = {.resource = {.width = 1}, .restriction = 3, .maximum = 256};
    struct gg_suballoc_answer answer;
    uint32_t floor;
    char *message = NULL;
#define REFUSE(call, text) expect(#call, call, GG_ERR_ARGUMENT, &message, text)
    REFUSE(gg_suballoc_allocation_info(NULL, 1, NULL, NULL, &total, NULL, 0, NULL, &message), "resources is NULL");
    REFUSE(gg_suballoc_allocation_info(&buffer, 1, NULL, NULL, NULL, NULL, 0, NULL, &message), "total is NULL");
    REFUSE(gg_suballoc_allocation_info(&buffer, 1, NULL, NULL, &total, NULL, 1, NULL, &message), "notes is NULL");
    REFUSE(gg_suballoc_allocation_info(&buffer, 1, &wrong, NULL, &total, NULL, 0, NULL, &message), "mode is 7");
    REFUSE(gg_suballoc_limits(NULL, NULL, &limits, &message), "resource is NULL");
    REFUSE(gg_suballoc_limits(&buffer, NULL, NULL, &message), "limits is NULL");
    REFUSE(gg_suballoc_lay_out(NULL, 1, NULL, NULL, &total, &message), "items is NULL");
    REFUSE(gg_suballoc_lay_out(NULL, 0, NULL, NULL, NULL, &message), "total is NULL");
    REFUSE(gg_suballoc_floor(0, NULL, &message), "NULL");
    REFUSE(gg_suballoc_floor(64, &floor, &message), "0x40");
    REFUSE(gg_suballoc_profile(NULL, &profile, &message), "name is NULL");
    REFUSE(gg_suballoc_profile("best", &profile, &message), "no profile best");
    REFUSE(gg_suballoc_conform(NULL, NULL, 0, NULL, &message), "conformance is NULL");
    REFUSE(gg_suballoc_conform(NULL, NULL, 1, &conformance, &message), "violations is NULL");
    expect_ok("profile", gg_suballoc_profile("tight", &profile, &message), &message);
    REFUSE(gg_suballoc_profile_answer(&profile, &query, &answer, &message), "restriction 3");
    query = (struct gg_suballoc_query){.resource = {.width = 1}, .restriction = 8};
    REFUSE(gg_suballoc_profile_answer(&profile, &query, &answer, &message), "maximum 0");
    query = (struct gg_suballoc_query){.restriction = 8, .maximum = 256};
    REFUSE(gg_suballoc_profile_answer(&profile, &query, &answer, &message), "a dimension is zero");
    query.resource.width = UINT64_MAX;
    expect("overflow", gg_suballoc_profile_answer(&profile, &query, &answer, &message), GG_ERR_LIMIT, &message,
           "overflows");
#undef REFUSE
}

static void test_outputs_may_be_left_out(void)
{
    const struct gg_suballoc_resource list[] = {TIGHT_BUFFER(256), {.width = 1}, TIGHT_BUFFER(256)};
    struct gg_suballoc_total total;
    struct gg_suballoc_note one;
    uint32_t count = 0;
    CHECK(!gg_suballoc_allocation_info(list, 3, NULL, NULL, &total, NULL, 0, NULL, NULL), "refused");
    CHECK(total.info.size == 3 << 16 && total.saved == 1 << 16, "size %llu", (unsigned long long)total.info.size);
    CHECK(!gg_suballoc_allocation_info(NULL, 0, NULL, NULL, &total, NULL, 0, NULL, NULL), "refused");
    CHECK(!total.info.size && total.info.alignment == 1, "empty: alignment %llu",
          (unsigned long long)total.info.alignment);
    const struct gg_suballoc_resource bad[] = {{0}, {0}};
    CHECK(!gg_suballoc_allocation_info(bad, 2, NULL, NULL, &total, &one, 1, &count, NULL), "refused");
    CHECK(count == 2 && one.index == 0, "%u notes", count);
    CHECK(total.info.verdict == GG_SUBALLOC_VERDICT_ZERO_DIMENSION, "verdict %u", total.info.verdict);
}

struct counter {
    struct gg_suballoc_profile right;
    uint32_t calls;
};

/* Answers rightly but for buffers of exactly 4096 bytes, of which it makes more. */
static int32_t drive(void *user, const struct gg_suballoc_query *query, struct gg_suballoc_answer *answer)
{
    struct counter *counter = user;
    counter->calls++;
    int32_t result = gg_suballoc_profile_answer(&counter->right, query, answer, NULL);
    if (!result && query->resource.kind == GG_SUBALLOC_KIND_BUFFER && answer->size == 4096)
        answer->size++;
    return result;
}

static void test_callbacks(void)
{
    struct counter counter = {0};
    struct gg_suballoc_violation first;
    struct gg_suballoc_conformance found;
    char *message = NULL;
    expect_ok("profile", gg_suballoc_profile("tight-8", &counter.right, &message), &message);
    struct gg_suballoc_profile driven = counter.right;
    driven.driver = drive;
    driven.user = &counter;
    struct gg_suballoc_options options = {.profile = &driven};
    expect_ok("conform", gg_suballoc_conform(&options, &first, 1, &found, &message), &message);
    CHECK(counter.calls > 2 * found.cases, "%u calls for %u cases", counter.calls, found.cases);
    CHECK(found.violations > 0, "no violation");
    CHECK(first.kind == GG_SUBALLOC_VIOLATION_BUFFER_SIZE && first.resource.width == 4096 && first.wanted == 4096,
          "violation %u of %llu bytes", first.kind, (unsigned long long)first.resource.width);
    options.profile = &counter.right;
    expect_ok("conform", gg_suballoc_conform(&options, NULL, 0, &found, &message), &message);
    CHECK(!found.violations, "%u violations of a right driver", found.violations);
}

static void test_profile_names(void)
{
    struct gg_suballoc_profile profile;
    uint32_t count = 0;
    for (; gg_suballoc_profile_name(count); count++)
        CHECK(!gg_suballoc_profile(gg_suballoc_profile_name(count), &profile, NULL), "profile %u", count);
    CHECK(count == 5 && !gg_suballoc_profile_name(UINT32_MAX), "%u profiles", count);
}

int main(void)
{
    test_misuse();
    test_outputs_may_be_left_out();
    test_callbacks();
    test_profile_names();
    return test_result();
}
