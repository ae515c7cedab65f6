/* SPDX-License-Identifier: MIT */
/* One dispatch of 64 workgroups over two buffers of 16384 words; prints the first results. */
#include "app.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    struct app app = app_open(0, 1);
    struct app_buffer from = app_buffer(&app, 65536), to = app_buffer(&app, 65536);
    for (uint32_t i = 0; i < 16384; i++)
        from.words[i] = i;
    app_pipeline(&app, argv[1]);
    VkCommandBuffer commands = app_begin(&app, app_set(&app, &from, &to));
    vkCmdDispatch(commands, 64, 1, 1);
    CHECKED(vkEndCommandBuffer(commands));
    app_submit(&app, app.queues[0], commands);
    printf("%u %u %u %u\n", to.words[0], to.words[1], to.words[2], to.words[3]);
    return 0;
}
