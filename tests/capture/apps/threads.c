/* SPDX-License-Identifier: MIT */
/*
 * Two threads, each with a compute queue and memory of its own, submit eight times each; the first word of a thread's
 * memory counts. With a second argument a child process does the same.
 */
#include "app.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
    const struct app *app;
    VkQueue queue;
    struct app_buffer data;
    VkDescriptorSet set;
    uint32_t first;
};

static void *work(void *argument)
{
    struct job *job = argument;
    VkCommandBuffer commands = app_begin(job->app, job->set);
    app_push(job->app, commands, job->first, 1);
    vkCmdDispatch(commands, 1, 1, 1);
    CHECKED(vkEndCommandBuffer(commands));
    for (uint32_t i = 0; i < 8; i++) {
        job->data.words[0] = job->first + i;
        app_submit(job->app, job->queue, commands);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    pid_t child = argc > 2 ? fork() : 0;
    struct app app = app_open(1, 2);
    app_pipeline(&app, argv[1]);
    pthread_t threads[2];
    struct job jobs[2];
    for (uint32_t i = 0; i < 2; i++) {
        jobs[i] =
            (struct job){.app = &app, .queue = app.queues[i], .data = app_buffer(&app, 4096), .first = 100 + 100 * i};
        jobs[i].set = app_set(&app, &jobs[i].data, &jobs[i].data);
    }
    for (uint32_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &jobs[i]);
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int status = 0;
    if (child)
        waitpid(child, &status, 0);
    return status != 0;
}
