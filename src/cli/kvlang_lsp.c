/* `kvlang lsp`: the language server on standard input and output; with -s the functions of a space count too, which is only
 * read. Relies on lsp.h.
 * Promises: diagnostics wait until nothing more of the editor is there to be read, so that fast typing costs one check;
 * ends when the stream ends, with status 1 unless the editor has said `exit` after `shutdown`. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/kvlang_program.h"
#include "cli/lsp.h"

enum { CHUNK = 1 << 16 };

static int write_all(void *context, const char *bytes, size_t count) {
    const int *fd = context;
    while (count) {
        ssize_t written = write(*fd, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

static bool more_waits(int fd) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) > 0;
}

enum program_status command_lsp(struct program *program) {
    struct kvspace_problem problem = {0};
    struct kvspace_open_options options = {.create = KVSPACE_CREATE_NEVER, .label = "kvlang lsp", .problem = &problem,
        .trust = program->trust ? KVSPACE_TRUST_OTHERS : KVSPACE_TRUST_OWN};
    kvspace *space = NULL;
    if (program->dsn && kvspace_open_with(program->dsn, &options, &space))
        return program_fail(program, PROGRAM_SPACE, "cannot open %s: %s", program->dsn, problem.message);
    int output = STDOUT_FILENO;
    struct text_out out = {.write = write_all, .context = &output};
    struct lsp_server *server = malloc(sizeof *server);
    char *chunk = malloc(CHUNK);
    enum program_status status = PROGRAM_FAILED;
    if (server && chunk) {
        lsp_start(server, &out, space);
        ssize_t count;
        do {
            if (!more_waits(STDIN_FILENO)) lsp_settle(server);
            count = read(STDIN_FILENO, chunk, CHUNK);
            if (count < 0 && errno == EINTR) continue;
        } while (count > 0 && lsp_feed(server, chunk, (size_t)count) && !out.error);
        if (!count) lsp_settle(server);
        status = server->status ? PROGRAM_FAILED : PROGRAM_OK;
        lsp_end(server);
    } else (void)program_fail(program, PROGRAM_FAILED, "no memory");
    if (space) kvspace_close(space);
    free(chunk);
    free(server);
    return status;
}
