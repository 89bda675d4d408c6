/* The framing of messages. Relies on lsp_frame.h. Lines may end in \n alone; header names are matched without regard to case.
 * Promise: see lsp_frame.h. */
#include "cli/lsp_frame.h"

#include <stdlib.h>
#include <string.h>

bool lsp_frames_put(struct lsp_frames *frames, const char *bytes, size_t count) {
    size_t dropped = frames->skip < count ? frames->skip : count;
    frames->skip -= dropped;
    bytes += dropped;
    count -= dropped;
    if (!count) return true;
    if (frames->from) {
        memmove(frames->bytes, frames->bytes + frames->from, frames->used - frames->from);
        frames->used -= frames->from;
        frames->from = 0;
    }
    if (count > frames->room - frames->used) {
        size_t room = (frames->used + count) * 2;
        char *wider = realloc(frames->bytes, room);
        if (!wider) return false;
        frames->bytes = wider;
        frames->room = room;
    }
    memcpy(frames->bytes + frames->used, bytes, count);
    frames->used += count;
    return true;
}

static void drop(struct lsp_frames *frames, size_t count) {
    size_t here = frames->used - frames->from < count ? frames->used - frames->from : count;
    frames->from += here;
    frames->skip += count - here;
    frames->looked = 0;
}

/* Offset behind the empty line that ends the headers, 0 where it is not there yet. */
static size_t headers_end(struct lsp_frames *frames) {
    const char *text = frames->bytes + frames->from;
    size_t length = frames->used - frames->from, line = 0;
    for (size_t i = frames->looked; i < length; i++) {
        if (text[i] != '\n') continue;
        line = i;
        while (line && text[line - 1] != '\n') line--;
        if (line == i || (i == line + 1 && text[line] == '\r')) return i + 1;
    }
    frames->looked = length;
    return 0;
}

static bool name_is(const char *line, size_t length, const char *name) {
    size_t i = 0;
    for (; name[i]; i++) {
        char letter = i < length ? line[i] : '\0';
        if (letter >= 'A' && letter <= 'Z') letter = (char)(letter | 0x20);
        if (letter != name[i]) return false;
    }
    while (i < length && (line[i] == ' ' || line[i] == '\t')) i++;
    return i < length && line[i] == ':';
}

/* The number behind the colon; false where there is none or it does not fit. */
static bool length_of(const char *line, size_t length, size_t *out) {
    const char *at = memchr(line, ':', length), *end = line + length;
    size_t value = 0, digits = 0;
    at++;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    for (; at < end && *at >= '0' && *at <= '9'; at++, digits++) {
        if (value > ((size_t)-1 - 9) / 10) return false;
        value = value * 10 + (size_t)(*at - '0');
    }
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    *out = value;
    return digits && at == end;
}

/* Whether the headers say how long the body is. */
static bool read_headers(const char *text, size_t length, size_t *body) {
    bool found = false;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end ? (size_t)(end - (text + at)) : length - at;
        if (name_is(text + at, line, "content-length")) {
            size_t value;
            if (!length_of(text + at, line, &value) || (found && value != *body)) return false;
            *body = value;
            found = true;
        }
        at += line + 1;
    }
    return found;
}

static enum lsp_frame_event next_headers(struct lsp_frames *frames) {
    size_t end = headers_end(frames), body = 0;
    if (!end) {
        if (frames->used - frames->from <= LSP_HEADERS_MAX) return LSP_FRAME_NONE;
        drop(frames, frames->used - frames->from);
        return LSP_FRAME_BAD;
    }
    bool good = end <= LSP_HEADERS_MAX && read_headers(frames->bytes + frames->from, end, &body);
    drop(frames, end);
    if (!good) return LSP_FRAME_BAD;
    if (body > LSP_MESSAGE_MAX) {
        drop(frames, body);
        return LSP_FRAME_BAD;
    }
    frames->body = body;
    frames->in_body = true;
    return LSP_FRAME_BODY;
}

enum lsp_frame_event lsp_frames_next(struct lsp_frames *frames, const char **body, size_t *length) {
    if (!frames->in_body) {
        enum lsp_frame_event event = frames->used == frames->from ? LSP_FRAME_NONE : next_headers(frames);
        if (event != LSP_FRAME_BODY) return event;
    }
    if (frames->used - frames->from < frames->body) return LSP_FRAME_NONE;
    *body = frames->bytes ? frames->bytes + frames->from : "";
    *length = frames->body;
    frames->in_body = false;
    drop(frames, frames->body);
    return LSP_FRAME_BODY;
}

void lsp_frames_free(struct lsp_frames *frames) {
    free(frames->bytes);
    *frames = (struct lsp_frames){0};
}
