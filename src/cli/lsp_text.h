/* The text of an open document and its places as the protocol counts them: lines from 0, characters in UTF-16 units.
 * Relies on kvspace/utf8.h. Promise: any line and character give an offset inside the text that is not inside a character,
 * as the protocol wants it: beyond the end of a line means its end, inside a surrogate pair means before it. */
#ifndef CLI_LSP_TEXT_H
#define CLI_LSP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer documents are refused: offsets are 32 bits (layout's SCAN_MAX_BYTES). */
#define LSP_TEXT_MAX ((size_t)1 << 30)

struct lsp_text {
    char *bytes; /* UTF-8, ended by a zero byte; malloc'd */
    size_t length;
    uint32_t *starts; /* offset of each line; there is at least one */
    uint32_t lines;
};

struct lsp_position {
    uint32_t line, character;
};

struct lsp_range {
    struct lsp_position from, to;
};

/* Takes over bytes (malloc'd, with room for the zero behind them). False and bytes freed: no memory, or too long. */
bool lsp_text_take(struct lsp_text *text, char *bytes, size_t length);
/* Puts bytes in the place of [from, to). False: no memory, or too long; the text is as it was. */
bool lsp_text_replace(struct lsp_text *text, uint32_t from, uint32_t to, const char *bytes, size_t length);
void lsp_text_free(struct lsp_text *text);

uint32_t lsp_text_offset(const struct lsp_text *text, struct lsp_position position);
struct lsp_position lsp_text_position(const struct lsp_text *text, uint32_t offset);

#endif
