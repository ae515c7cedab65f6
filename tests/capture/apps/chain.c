/* SPDX-License-Identifier: MIT */
/*
 * Three dispatches in a row, with barriers between them: direct, direct, indirect; push constants change each time.
 * Submitted twice, the host changing one word of the data and the counts in between. Then the data's memory is freed,
 * other memory takes its place, and it all runs a third time.
 */
#include "app.h"

static VkCommandBuffer record(const struct app *app, const struct app_buffer *data, const struct app_buffer *counts)
{
    VkCommandBuffer commands = app_begin(app, app_set(app, data, data));
    app_push(app, commands, 1, 3);
    vkCmdDispatch(commands, 2, 1, 1);
    app_barrier(commands);
    app_push(app, commands, 5, 7);
    vkCmdDispatchBase(commands, 0, 0, 0, 3, 2, 1);
    app_barrier(commands);
    app_push(app, commands, 2, 9);
    vkCmdDispatchIndirect(commands, counts->buffer, 16);
    CHECKED(vkEndCommandBuffer(commands));
    return commands;
}

static void fill(struct app_buffer *data, uint32_t first)
{
    for (uint32_t i = 0; i < data->size / 4; i++)
        data->words[i] = first + i;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    struct app app = app_open(0, 1);
    struct app_buffer counts = app_buffer(&app, 64), data = app_buffer(&app, 16384);
    fill(&data, 1000);
    memcpy(counts.words + 4, (const uint32_t[]){4, 1, 1}, 12);
    app_pipeline(&app, argv[1]);
    VkCommandBuffer commands = record(&app, &data, &counts);
    app_submit(&app, app.queues[0], commands);
    data.words[7] = 4321;
    memcpy(counts.words + 4, (const uint32_t[]){5, 2, 1}, 12);
    app_submit(&app, app.queues[0], commands);
    app_free_buffer(&app, &data);
    data = app_buffer(&app, 16384);
    fill(&data, 2000);
    app_submit(&app, app.queues[0], record(&app, &data, &counts));
    printf("%u\n", data.words[0]);
    return 0;
}
