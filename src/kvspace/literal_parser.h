/* What the files of the literal parser share: the parser's state, its memory, the tokens, and coercion to a type.
 * literal_token.c reads leaves, literal_parse.c containers, literal_coerce.c fits values to types. Private to them. */
#ifndef KVSPACE_LITERAL_PARSER_H
#define KVSPACE_LITERAL_PARSER_H

#include "kvspace/literal.h"
#include "kvspace/typexpr.h"

struct literal_parser {
    const char *text;
    size_t length, at;
    uint64_t body_bytes_max;
    unsigned depth;
    struct literal_block *blocks;
    struct literal_error *error; /* never NULL */
};

/* One element while its kind is not yet final: 8 bytes as a number of its kind (a bool, an integer, a double for floats). */
struct literal_element {
    uint64_t bits;
    uint8_t kind;
    bool plain;
};

/* Sets the parser's error. */
__attribute__((format(printf, 4, 5))) void literal_report(struct literal_parser *parser, int code, size_t position,
                                                          const char *format, ...);

/* The same, as an expression with the value of `code`: `return LITERAL_FAIL(parser, LITERAL_ETYPE, at, "…")`. A macro, so
 * that an analyzer sees that it is never 0. */
#define LITERAL_FAIL(parser, code, ...) (literal_report(parser, code, __VA_ARGS__), (code))

/* Zeroed memory of the document, aligned to 8; NULL (and the error is set) when there is none. */
void *literal_alloc(struct literal_parser *parser, uint64_t bytes);
struct literal *literal_new(struct literal_parser *parser, enum literal_class class, size_t position);
const char *literal_copy(struct literal_parser *parser, const char *bytes, size_t count);

/* ---- tokens (literal_token.c) ---- */

/* Blanks and newlines; gives whether there was a newline. */
bool literal_skip(struct literal_parser *parser);
/* The byte after blanks, -1 at the end. */
int literal_peek(struct literal_parser *parser);
bool literal_accept(struct literal_parser *parser, char wanted);
/* An error that says what was expected and what stands there. */
int literal_fail_expected(struct literal_parser *parser, const char *wanted);

/* A number, time or duration: at a sign or digit. */
int literal_read_number(struct literal_parser *parser, struct literal_element *element);
/* true, false, inf, nan (after an optional sign); false when the word is another. */
bool literal_read_constant(struct literal_parser *parser, struct literal_element *element);
/* Whether a string begins here, and a string in any of the five forms, as UTF-8 in the document's memory. */
bool literal_at_string(const struct literal_parser *parser);
int literal_read_string(struct literal_parser *parser, const char **text, size_t *bytes);

/* ---- values (literal_coerce.c) ---- */

int literal_from_element(struct literal_parser *parser, size_t position, struct literal_element element,
                         struct literal **out);
/* A string in UTF-8 as a value of a char kind. */
int literal_from_text(struct literal_parser *parser, size_t position, enum kv_kind kind, const char *text, size_t bytes,
                      struct literal **out);
/* Fits an element to a declared kind; `wrap` makes it an explicit conversion. */
int literal_convert(struct literal_parser *parser, size_t position, enum kv_kind kind, bool wrap,
                    struct literal_element *element);
/* Stores an element that has its final kind. */
void literal_store(struct literal_element element, void *place);
struct literal_element literal_load(const struct literal *scalar);
/* Changes the value so that it has the type, or says why it cannot. */
int literal_coerce(struct literal_parser *parser, struct literal *value, const struct typexpr *type);
/* The body of an array, zeroed, for kind, ndim and dims that are set; sets the type text. */
int literal_array_body(struct literal_parser *parser, struct literal *array);

/* An array before its type is known: class ARRAY, kind NONE. `[]` has ndim 0; `[v...]` has its element as body. */
static inline bool literal_is_untyped(const struct literal *value) {
    return value->class == LITERAL_ARRAY && value->kind == KIND_NONE;
}

#endif
