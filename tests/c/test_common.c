/* SPDX-License-Identifier: MIT */
/* Result codes and messages. */
#include "common/message.h"

#include "expect.h"

static void test_results(void)
{
    static const struct {
        int32_t code;
        const char *name;
    } codes[] = {
        {0, "GG_OK"},
        {-1, "GG_ERR_ARGUMENT"},
        {-2, "GG_ERR_MEMORY"},
        {-3, "GG_ERR_UNSUPPORTED"},
        {-4, "GG_ERR_FORMAT"},
        {-5, "GG_ERR_LIMIT"},
        {-6, "GG_ERR_NO_DEVICE"},
        {-7, "GG_ERR_DEVICE"},
        {-8, "GG_ERR_DEVICE_LOST"},
        {-9, "GG_ERR_TIMEOUT"},
        {-10, "GG_ERR_VALIDATION"},
        {-11, "GG_ERR_COMPILE"},
        {-12, "unknown result"},
        {1, "unknown result"},
        {INT32_MIN, "unknown result"},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        CHECK(!strcmp(gg_result_string(codes[i].code), codes[i].name), "%d is %s", codes[i].code,
              gg_result_string(codes[i].code));
    CHECK(gg_abi_version() == GG_ABI_VERSION, "version %u", gg_abi_version());
    gg_free(NULL);
}

static void test_messages(void)
{
    char *message = "stale";
    CHECK(gg_fail(&message, GG_ERR_LIMIT, "%s: %u words of %u", "area", 7u, 6u) == GG_ERR_LIMIT, "the result is kept");
    CHECK(message && !strcmp(message, "area: 7 words of 6"), "%s", message ? message : "no message");
    gg_free(message);
    CHECK(gg_succeed(&message) == GG_OK && !message, "success leaves no message");
    CHECK(gg_fail(NULL, GG_ERR_FORMAT, "%d", 1) == GG_ERR_FORMAT && gg_succeed(NULL) == GG_OK,
          "nobody wants a message");
}

int main(void)
{
    test_results();
    test_messages();
    return test_result();
}
