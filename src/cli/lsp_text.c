/* Lines and UTF-16 columns. Relies on lsp_text.h. A line ends with \n, \r\n or \r, as the protocol says.
 * Promise: see lsp_text.h; a position costs a look at its own line only. */
#include "cli/lsp_text.h"

#include <stdlib.h>
#include <string.h>

#include "kvspace/utf8.h"

/* The starts of the lines, malloc'd; NULL: no memory. */
static uint32_t *find_lines(const char *bytes, size_t length, uint32_t *lines) {
    uint32_t count = 1, room = 64;
    uint32_t *starts = malloc(room * sizeof *starts);
    if (!starts) return NULL;
    starts[0] = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\r') continue;
        if (bytes[i] == '\r' && i + 1 < length && bytes[i + 1] == '\n') i++;
        if (count == room) {
            uint32_t *wider = realloc(starts, (size_t)room * 2 * sizeof *starts);
            if (!wider) {
                free(starts);
                return NULL;
            }
            starts = wider;
            room *= 2;
        }
        starts[count++] = (uint32_t)i + 1;
    }
    *lines = count;
    return starts;
}

bool lsp_text_take(struct lsp_text *text, char *bytes, size_t length) {
    uint32_t lines, *starts = length <= LSP_TEXT_MAX ? find_lines(bytes, length, &lines) : NULL;
    if (!starts) {
        free(bytes);
        return false;
    }
    lsp_text_free(text);
    bytes[length] = '\0';
    *text = (struct lsp_text){bytes, length, starts, lines};
    return true;
}

bool lsp_text_replace(struct lsp_text *text, uint32_t from, uint32_t to, const char *bytes, size_t length) {
    if (to < from) to = from;
    if (length > LSP_TEXT_MAX) return false;
    size_t behind = text->length - to, total = from + length + behind;
    char *all = malloc(total + 1);
    if (!all) return false;
    memcpy(all, text->bytes, from);
    memcpy(all + from, bytes, length);
    memcpy(all + from + length, text->bytes + to, behind);
    return lsp_text_take(text, all, total);
}

void lsp_text_free(struct lsp_text *text) {
    free(text->bytes);
    free(text->starts);
    *text = (struct lsp_text){0};
}

/* UTF-16 units of the character at `at`, its bytes in *bytes; what is no UTF-8 counts as one unit a byte. */
static unsigned units_at(const struct lsp_text *text, uint32_t at, uint32_t *bytes) {
    uint32_t point = 0;
    size_t found = utf8_decode(text->bytes + at, text->length - at, &point);
    *bytes = found ? (uint32_t)found : 1;
    return found && point > 0xffff ? 2 : 1;
}

static uint32_t line_end(const struct lsp_text *text, uint32_t line) {
    uint32_t end = line + 1 < text->lines ? text->starts[line + 1] : (uint32_t)text->length;
    while (end > text->starts[line] && (text->bytes[end - 1] == '\n' || text->bytes[end - 1] == '\r')) end--;
    return end;
}

uint32_t lsp_text_offset(const struct lsp_text *text, struct lsp_position position) {
    if (position.line >= text->lines) return (uint32_t)text->length;
    uint32_t at = text->starts[position.line], end = line_end(text, position.line), left = position.character;
    while (at < end && left) {
        uint32_t bytes;
        unsigned units = units_at(text, at, &bytes);
        if (units > left) break;
        left -= units;
        at += bytes;
    }
    return at;
}

struct lsp_position lsp_text_position(const struct lsp_text *text, uint32_t offset) {
    if (offset > text->length) offset = (uint32_t)text->length;
    uint32_t low = 0, high = text->lines;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (text->starts[middle] <= offset) low = middle;
        else high = middle;
    }
    struct lsp_position position = {low, 0};
    for (uint32_t at = text->starts[low], bytes; at < offset; at += bytes) position.character += units_at(text, at, &bytes);
    return position;
}
