/* The canonical text of expressions: operators with blanks around them, steps and calls without, lists with `, `.
 * Relies on format.c for output and comments. Literals come out as they were written, or from their value where the
 * tree was not parsed. Promise: parentheses stay (several around one expression as one), so grouping never changes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "layout/format.h"
#include "layout/unicode.h"

static const struct ast_pos nowhere = {0, 0, 0};

struct format_bracket format_open(struct format *format, const char *bracket) {
    format_word(format, bracket);
    struct format_bracket opened = {format->inner, format->line_indent};
    format->inner = format->line_indent + 1;
    format->brackets++;
    return opened;
}

void format_close(struct format *format, struct format_bracket opened, const char *bracket, struct ast_pos close) {
    format->space = false;
    format->inner = opened.opener_indent + 1;
    const bool commented = close.line && format->next_comment < format->file->comment_count &&
                           format->file->comments[format->next_comment].at.offset < close.offset;
    if (commented) { /* comments before the bracket stand as deep as what it holds */
        struct ast_pos first = format->file->comments[format->next_comment].at;
        format_place(format, (struct ast_pos){close.offset, first.line > format->last_line ? first.line : format->last_line, 0}, false);
    }
    format->inner = opened.opener_indent;
    format_place(format, close, false);
    if (format->line_start) format->line_indent = format->inner;
    format->space = false;
    format_word(format, bracket);
    format->space = false;
    format->brackets--;
    format->inner = opened.outer_inner;
}

/* ---- literals ---- */

static void put_integer(struct format *format, const struct ast_node *node) {
    char digits[32];
    if (node->as.integer.raw.length) {
        if (node->as.integer.negative) format_word(format, "-");
        format_text(format, node->as.integer.raw);
        return;
    }
    if (node->as.integer.is_unsigned) snprintf(digits, sizeof digits, "%llu", (unsigned long long)node->as.integer.bits);
    else snprintf(digits, sizeof digits, "%lld", (long long)node->as.integer.bits);
    format_word(format, digits);
}

/* The shortest digits that read back, always recognisable as a float. Infinities and NaN have no literal. */
static void put_float(struct format *format, const struct ast_node *node) {
    char digits[40];
    if (node->as.real.raw.length) {
        if (node->as.real.negative) format_word(format, "-");
        format_text(format, node->as.real.raw);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, node->as.real.value);
        if (strtod(digits, NULL) == node->as.real.value) break;
    }
    if (!strpbrk(digits, ".enif")) memcpy(digits + strlen(digits), ".0", sizeof ".0");
    format_word(format, digits);
}

/* A text in double quotes with the escapes of the source. */
static void put_quoted(struct format *format, struct ast_text text) {
    static const char specials[] = "\n\t\r\"\\", letters[] = "ntr\"\\";
    char escape[16];
    format_word(format, "\"");
    uint32_t plain = 0;
    for (uint32_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        const char *special = c ? memchr(specials, c, sizeof specials - 1) : NULL;
        if (c >= 0x20 && c != 0x7F && !special) continue;
        format_text(format, (struct ast_text){text.at + plain, i - plain});
        if (special) snprintf(escape, sizeof escape, "\\%c", letters[special - specials]);
        else snprintf(escape, sizeof escape, "\\x%02x", c);
        format_word(format, escape);
        plain = i + 1;
    }
    format_text(format, (struct ast_text){text.at + plain, text.length - plain});
    format_word(format, "\"");
}

static void put_string(struct format *format, const struct ast_node *node) {
    if (node->as.string.bare) format_text(format, node->as.string.value);
    else if (node->as.string.raw.length) format_text(format, node->as.string.raw);
    else put_quoted(format, node->as.string.value);
}

/* ---- lists ---- */

/* The place of the last character of what ends at (end, line), which is its bracket. */
static struct ast_pos closing(uint32_t end, uint32_t line) {
    return line ? (struct ast_pos){end - 1, line, 0} : nowhere;
}

static void put_list(struct format *format, const char *open, struct ast_nodes items, bool blanks, const char *close, struct ast_pos close_at) {
    struct format_bracket opened = format_open(format, open);
    for (uint32_t i = 0; i < items.count; i++) {
        if (i) format_word(format, ",");
        if (i && blanks) format->space = true;
        format_expression(format, items.at[i]);
    }
    format_close(format, opened, close, close_at);
}

static const struct ast_pos *entry_at(const struct format *format, const struct ast_entry *entry) {
    const struct ast_node *first = entry->key ? entry->key : entry->value;
    if (first->parenthesised && format->next_paren < format->file->paren_count) return &format->file->parens[format->next_paren].open;
    return &first->at;
}

/* Whether a new line begins before the entry: it does in the source, or a line comment comes between. */
static bool breaks_before(const struct format *format, struct ast_pos at) {
    if (at.line > format->last_line) return true;
    for (uint32_t i = format->next_comment; i < format->file->comment_count && format->file->comments[i].at.offset < at.offset; i++)
        if (!format->file->comments[i].block) return true;
    return false;
}

/* `{…}`: a new line separates entries as `;` does. */
static void put_entries(struct format *format, const struct ast_entry *entries, uint32_t count, struct ast_pos close) {
    struct format_bracket opened = format_open(format, "{");
    for (uint32_t i = 0; i < count; i++) {
        struct ast_pos at = *entry_at(format, &entries[i]);
        bool broken = i > 0 && at.line && breaks_before(format, at);
        if (i && !entries[i].key) format_word(format, ",");
        else if (i && !broken) format_word(format, ";");
        if (i) format->space = true;
        if (at.line) format_place(format, at, broken);
        if (entries[i].key) {
            format_expression(format, entries[i].key);
            format_word(format, "=");
            format->space = false;
        }
        format_expression(format, entries[i].value);
    }
    format_close(format, opened, "}", close);
}

/* ---- operators, steps, calls ---- */

static void put_chain(struct format *format, const struct ast_node *node) {
    for (uint32_t i = 0; i < node->as.chain.count; i++) {
        if (i) {
            format->space = true;
            format_place(format, node->as.chain.op_at ? node->as.chain.op_at[i - 1] : nowhere, false);
            format_word(format, ast_op_row((enum ast_op)node->as.chain.ops[i - 1])->text);
            format->space = true;
        }
        format_expression(format, node->as.chain.operands[i]);
    }
}

static void put_access(struct format *format, const struct ast_node *node) {
    format_expression(format, node->as.access.base);
    for (uint32_t i = 0; i < node->as.access.count; i++) {
        const struct ast_step *step = &node->as.access.steps[i];
        struct ast_pos close = closing(step->end, step->end_line);
        format_place(format, step->at, false);
        switch (step->kind) {
        case AST_STEP_MEMBER:
            format_word(format, "·");
            format_text(format, step->name);
            break;
        case AST_STEP_KEY:
            format_word(format, "·*");
            format_expression(format, step->args.at[0]);
            break;
        case AST_STEP_TUPLE:
            put_list(format, "·[", step->args, false, "]", close);
            break;
        case AST_STEP_INDEX:
            put_list(format, "[", step->args, false, "]", close);
            break;
        }
        format_ended(format, step->end_line);
    }
}

static void put_bare(struct format *format, const struct ast_node *node) {
    struct ast_pos close = closing(node->end, node->end_line);
    switch ((enum ast_kind)node->kind) {
    case AST_NONE:
        format_word(format, "None");
        break;
    case AST_BOOL:
        format_word(format, node->as.boolean.value ? "true" : "false");
        break;
    case AST_INT:
        put_integer(format, node);
        break;
    case AST_FLOAT:
        put_float(format, node);
        break;
    case AST_STRING:
        put_string(format, node);
        break;
    case AST_NAME:
        format_text(format, node->as.name.text);
        break;
    case AST_DISCARD:
        format_word(format, "_");
        break;
    case AST_PATH:
        format_text(format, node->as.path.text);
        break;
    case AST_ACCESS:
        put_access(format, node);
        break;
    case AST_CALL:
        format_text(format, node->as.call.callee);
        put_list(format, "(", node->as.call.args, true, ")", close);
        break;
    case AST_PREFIX:
        format_word(format, ast_prefix_text((enum ast_prefix)node->as.prefix.op));
        format_expression(format, node->as.prefix.operand);
        break;
    case AST_CHAIN:
        put_chain(format, node);
        break;
    case AST_ARRAY:
        put_list(format, "[", node->as.array.elements, true, "]", close);
        break;
    case AST_FILL: {
        struct format_bracket opened = format_open(format, "[");
        format_expression(format, node->as.fill.value);
        format_word(format, "...");
        format_close(format, opened, "]", close);
        break;
    }
    case AST_MAP:
        put_entries(format, node->as.map.entries, node->as.map.count, close);
        break;
    case AST_STRUCT_LITERAL:
        format_text(format, node->as.struct_literal.name);
        put_entries(format, node->as.struct_literal.entries, node->as.struct_literal.count, close);
        break;
    default: /* no expression; a tree without errors has none here */
        break;
    }
}

void format_expression(struct format *format, const struct ast_node *node) {
    if (!node->parenthesised) {
        /* The place of a chain or access is that of its first part, which says it. */
        if (node->kind != AST_CHAIN && node->kind != AST_ACCESS) format_place(format, node->at, false);
        put_bare(format, node);
        format_ended(format, node->end_line);
        return;
    }
    struct ast_paren paren = {nowhere, nowhere};
    if (format->next_paren < format->file->paren_count) paren = format->file->parens[format->next_paren++];
    format_place(format, paren.open, false);
    struct format_bracket opened = format_open(format, "(");
    if (node->kind != AST_CHAIN && node->kind != AST_ACCESS) format_place(format, node->at, false);
    put_bare(format, node);
    format_ended(format, node->end_line);
    format_close(format, opened, ")", paren.close);
}
