/* Type expressions: read to canonical text (no blanks, `·` for `.`), their form checked, their names not.
 * Relies on parse.c; the grammar is the one of language.md §3. `int64·T` and `pkg·Point` have one form: the checker knows
 * which of the two it is. Promise: a loop, no recursion, so a type may be as long as it likes. */
#include <stdio.h>
#include <string.h>
#include "layout/parse.h"

static void put(struct parse *parse, const char *at, uint32_t length) {
    char *letters = parse_grow(parse, parse->letters, parse->letters_used, length, &parse->letters_room, 1);
    if (!letters) return;
    parse->letters = letters;
    memcpy(letters + parse->letters_used, at, length);
    parse->letters_used += length;
}

static void take(struct parse *parse, const char *canonical) {
    put(parse, canonical, (uint32_t)strlen(canonical));
    parse_advance(parse);
}

struct dims {
    uint32_t axes;   /* N . ? * + */
    uint32_t names;  /* kinds: a tuple key */
    uint32_t ranges; /* ? * + */
};

static bool parse_axis(struct parse *parse, struct dims *dims) {
    const struct scan_token *token = &parse->token;
    char number[32];
    switch (token->kind) {
    case TOKEN_INT:
        snprintf(number, sizeof number, "%llu", (unsigned long long)token->bits);
        dims->axes++;
        take(parse, number);
        return true;
    case TOKEN_DOT:
        dims->axes++;
        take(parse, ".");
        return true;
    case TOKEN_QUESTION:
    case TOKEN_STAR:
    case TOKEN_PLUS:
        dims->axes++;
        if (++dims->ranges == 2) parse_error(parse, token->at, "a type has at most one of ? * + among its axes");
        take(parse, token->kind == TOKEN_QUESTION ? "?" : token->kind == TOKEN_STAR ? "*" : "+");
        return true;
    case TOKEN_IDENTIFIER:
        dims->names++;
        put(parse, token->text.at, token->text.length);
        parse_advance(parse);
        return true;
    default:
        parse_expected(parse, "an axis (a number, . ? * or +) or the kind of a key");
        return false;
    }
}

/* `[…]` in front of a kind or of `·`. */
static struct dims parse_dims(struct parse *parse) {
    struct dims dims = {0, 0, 0};
    struct ast_pos open = parse->token.at;
    parse->brackets++;
    parse->open_brackets++;
    take(parse, "[");
    while (!parse->panic && parse->token.kind != TOKEN_CLOSE_BRACKET && parse_axis(parse, &dims)) {
        if (parse->token.kind != TOKEN_COMMA) break;
        take(parse, ",");
    }
    if (!parse->panic && dims.axes && dims.names) parse_error(parse, open, "[ ] holds the axes of an array or the kinds of a key, not both");
    put(parse, "]", 1);
    parse_close(parse, TOKEN_CLOSE_BRACKET, open);
    return dims;
}

/* One atom without its `|`. Returns true where `·` follows, so that another atom must come. */
static bool parse_atom(struct parse *parse) {
    bool pointer = parse->token.kind == TOKEN_STAR || parse->token.kind == TOKEN_AT;
    if (pointer) take(parse, parse->token.kind == TOKEN_STAR ? "*" : "@");
    struct dims dims = {0, 0, 0};
    if (!parse_ended(parse) && parse->token.kind == TOKEN_OPEN_BRACKET) dims = parse_dims(parse);
    if (parse->panic) return false;
    if (dims.names == 0) {
        bool named = !parse_ended(parse) && (parse->token.kind == TOKEN_IDENTIFIER || parse->token.kind == TOKEN_PATH);
        if (!named) {
            if (parse->token.kind == TOKEN_ASSIGN && parse->last_end.offset == parse->token.at.offset) parse_error(parse, parse->last_end, "a type is missing behind the colon; a write without one is x = …");
            else parse_expected(parse, "a type");
            return false;
        }
        put(parse, parse->token.text.at, parse->token.text.length);
        parse_advance(parse);
    } else if (pointer) {
        parse_error(parse, parse->token.at, "a key has no * or @ before it");
    } else if (parse->token.kind != TOKEN_MEMBER) {
        parse_expected(parse, "· and the type of the values behind the key");
        return false;
    }
    if (parse_ended(parse) || parse->token.kind != TOKEN_MEMBER) return false;
    take(parse, "·");
    return true;
}

struct ast_type parse_type(struct parse *parse) {
    struct ast_type type = {.at = parse->token.at};
    parse->letters_used = 0;
    for (;;) {
        while (!parse->panic && parse_atom(parse)) {}
        if (parse->panic || parse_ended(parse) || parse->token.kind != TOKEN_BAR) break;
        take(parse, "|");
    }
    if (parse->panic) return type;
    type.text = ast_copy(parse->arena, (struct ast_text){parse->letters, parse->letters_used});
    if (type.text.length != parse->letters_used) parse->out_of_memory = parse->panic = true;
    return type;
}
