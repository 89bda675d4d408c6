/* Messages of the language server protocol cut out of a stream: `Content-Length: N`, other headers, an empty line, N bytes.
 * Relies on the C standard library. Promise: whatever bytes come in, each is looked at once and the memory held is at most
 * LSP_MESSAGE_MAX and a little; after a bad header the next good one is found. */
#ifndef CLI_LSP_FRAME_H
#define CLI_LSP_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#define LSP_MESSAGE_MAX ((size_t)256 << 20)
enum { LSP_HEADERS_MAX = 8192 };

enum lsp_frame_event {
    LSP_FRAME_NONE, /* more bytes are needed */
    LSP_FRAME_BODY,
    LSP_FRAME_BAD   /* headers that make no sense, or a message that is too long; it is skipped */
};

/* Zero is ready. */
struct lsp_frames {
    char *bytes;
    size_t from, used, room; /* bytes[from … used) are not yet dealt with */
    size_t looked;           /* bytes behind from that are known to hold no end of the headers */
    size_t body;             /* bytes of the body that is awaited */
    size_t skip;             /* bytes to drop first */
    bool in_body;
};

/* Takes bytes of the stream. False: no memory. */
bool lsp_frames_put(struct lsp_frames *frames, const char *bytes, size_t count);
/* The next message; body is borrowed until the next put. */
enum lsp_frame_event lsp_frames_next(struct lsp_frames *frames, const char **body, size_t *length);
void lsp_frames_free(struct lsp_frames *frames);

#endif
