/* SPDX-License-Identifier: MIT */
#ifndef GG_TEST_H
#define GG_TEST_H

/*
 * The C tests' one macro. A test program calls CHECK for everything it expects, goes on after a failure,
 * and returns test_result() from main: 0 when all held, 1 when one did not or when none was looked at.
 */
#include <stdio.h>

#define TEST_SKIP 77 /* what main returns when the machine cannot run the test; tests/c/run.sh knows it */

static unsigned test_checks, test_failures;

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        test_checks++;                                                                                                 \
        if (!(condition)) {                                                                                            \
            test_failures++;                                                                                           \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);                                    \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
        }                                                                                                              \
    } while (0)

static inline int test_result(void)
{
    fprintf(stderr, "%u checks, %u failed\n", test_checks, test_failures);
    return test_checks && !test_failures ? 0 : 1;
}

#endif
