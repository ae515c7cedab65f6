/* SPDX-License-Identifier: MIT */
/*
 * Dispatches that depend on one another, with all that stands between them: push constants, barriers, a base, counts
 * that an earlier dispatch wrote, and transfers small and large. Submitted twice; the host writes in between.
 * usage: several MODULE RESULT: RESULT receives the data, then the other buffer, as the host sees them at the end.
 */
#include "app.h"

#define BYTES 65536

static void push_and_dispatch(const struct app *app, VkCommandBuffer commands, uint32_t add, uint32_t multiply,
                              uint32_t groups)
{
    app_push(app, commands, add, multiply);
    vkCmdDispatch(commands, groups, 1, 1);
    app_barrier(commands);
}

static void bind(const struct app *app, VkCommandBuffer commands, VkDescriptorSet set)
{
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, app->layout, 0, 1, &set, 0, NULL);
}

static VkCommandBuffer record(const struct app *app, const struct app_buffer *data, const struct app_buffer *other)
{
    VkDescriptorSet in_place = app_set(app, data, data), across = app_set(app, data, other);
    VkCommandBuffer commands = app_begin(app, in_place);
    push_and_dispatch(app, commands, 1, 3, 4);
    app_push(app, commands, 5, 7);
    vkCmdDispatchBase(commands, 2, 1, 0, 3, 2, 1);
    app_barrier(commands);

    vkCmdFillBuffer(commands, other->buffer, 1024, 256, 0x01020304);
    vkCmdFillBuffer(commands, other->buffer, 16384, 32768, 0x0a0b0c0d);
    vkCmdCopyBuffer(commands, data->buffer, other->buffer, 1, &(const VkBufferCopy){0, 57344, 4096});
    vkCmdUpdateBuffer(commands, other->buffer, 2048, 16, (const uint32_t[]){11, 22, 33, 44});
    app_barrier(commands);
    vkCmdCopyBuffer(commands, other->buffer, data->buffer, 2, (const VkBufferCopy[]){{1024, 8192, 2048}, {2048, 4, 8}});
    vkCmdCopyBuffer(commands, other->buffer, data->buffer, 1, &(const VkBufferCopy){16384, 32768, 24576});
    app_barrier(commands);

    bind(app, commands, across);
    push_and_dispatch(app, commands, 3, 0, 1); /* writes counts of 3, 1, 1 to words 16 to 18 */
    app_push(app, commands, 2, 9);
    vkCmdDispatchIndirect(commands, other->buffer, 64);
    app_barrier(commands);
    bind(app, commands, in_place);
    push_and_dispatch(app, commands, 13, 5, 16);
    CHECKED(vkEndCommandBuffer(commands));
    return commands;
}

static void save(const char *path, const struct app_buffer *one, const struct app_buffer *two)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(one->words, 1, BYTES, file) != BYTES || fwrite(two->words, 1, BYTES, file) != BYTES ||
        fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct app app = app_open(0, 1);
    struct app_buffer data = app_buffer(&app, BYTES), other = app_buffer(&app, BYTES);
    for (uint32_t i = 0; i < BYTES / 4; i++)
        data.words[i] = i * 2654435761u;
    app_pipeline(&app, argv[1]);
    VkCommandBuffer commands = record(&app, &data, &other);
    app_submit(&app, app.queues[0], commands);
    for (uint32_t i = 40; i < 50; i++)
        data.words[i] = 9000 + i;
    app_submit(&app, app.queues[0], commands);
    save(argv[2], &data, &other);
    return 0;
}
