/* The canonical text of files, declarations and statements; and the ground of it: output, blanks, comments.
 * Relies on format_expr.c for expressions. Blanks are due, not written, so that no line ends in one.
 * Promise: every comment of the source comes out once, in order, and none swallows what follows it. */
#include "layout/format.h"
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY 2

/* ---- output ---- */

static void append(struct format *format, const char *bytes, size_t length) {
    if (format->room - format->used < length + 1) {
        size_t room = format->room * 2 + length + 256;
        char *more = format->out_of_memory ? NULL : realloc(format->out, room);
        if (!more) {
            format->out_of_memory = true;
            return;
        }
        format->out = more;
        format->room = room;
    }
    memcpy(format->out + format->used, bytes, length);
    format->used += length;
}

void format_newline(struct format *format, uint32_t indent) {
    if (format->used) append(format, "\n", 1);
    format->line_start = true;
    format->line_indent = indent;
    format->space = false;
    format->must_break = false;
}

static uint32_t broken_indent(const struct format *format) {
    return format->brackets ? format->inner : format->indent;
}

static void begin_text(struct format *format) {
    if (format->must_break) format_newline(format, broken_indent(format));
    if (format->line_start)
        for (uint32_t i = 0; i < format->line_indent; i++) append(format, "\t", 1);
    else if (format->space) append(format, " ", 1);
    format->line_start = false;
    format->space = false;
}

void format_text(struct format *format, struct ast_text text) {
    begin_text(format);
    while (text.length > 0) { /* in literals and comments, carriage returns before a line break are part of it */
        const char *cr = memchr(text.at, '\r', text.length);
        uint32_t part = cr ? (uint32_t)(cr - text.at) : text.length, run = 0;
        append(format, text.at, part);
        while (part + run < text.length && text.at[part + run] == '\r') run++;
        if (part + run == text.length || text.at[part + run] != '\n') append(format, text.at + part, run);
        text.at += part + run;
        text.length -= part + run;
    }
}

void format_word(struct format *format, const char *word) {
    begin_text(format);
    append(format, word, strlen(word));
}

void format_ended(struct format *format, uint32_t line) {
    if (line > format->last_line) format->last_line = line;
}

void format_type(struct format *format, const struct ast_type *type) {
    if (type->text.length == 0) return;
    format_word(format, ":");
    format_text(format, type->text);
}

/* ---- comments ---- */

static const struct ast_comment *pending(const struct format *format, uint32_t before) {
    if (format->next_comment >= format->file->comment_count) return NULL;
    const struct ast_comment *comment = &format->file->comments[format->next_comment];
    return comment->at.offset < before ? comment : NULL;
}

static void put_comment(struct format *format, const struct ast_comment *comment) {
    struct ast_text text = {format->file->source.at + comment->at.offset, comment->end - comment->at.offset};
    format_text(format, text);
    format_ended(format, comment->end_line);
    format->next_comment++;
    format->must_break = !comment->block;
    format->space = true;
}

/* A line break inside brackets; one that has been written already only takes the new indentation. */
static void break_line(struct format *format) {
    if (format->line_start && format->used) format->line_indent = format->inner;
    else format_newline(format, format->inner);
}

void format_place(struct format *format, struct ast_pos at, bool force) {
    if (at.line == 0) return;
    const struct ast_comment *comment;
    while ((comment = pending(format, at.offset)) != NULL) {
        /* Outside of brackets a line comment can only come from inside of a type: it waits for the end of the statement. */
        if (!comment->block && !format->brackets) break;
        if (format->brackets && comment->at.line > format->last_line) break_line(format);
        bool glued = format->used && strchr("([{", format->out[format->used - 1]);
        if (!glued) format->space = true;
        put_comment(format, comment);
    }
    if (format->brackets && (force || format->must_break || at.line > format->last_line)) break_line(format);
    format_ended(format, at.line);
}

/* Comments before the statement (or closing brace) at `before`: behind the statement above if they stood on its last line,
 * else on lines of their own. first: nothing of the block has been written. */
static bool own_comments(struct format *format, uint32_t before, bool first) {
    const struct ast_comment *comment;
    while ((comment = pending(format, before)) != NULL) {
        if (comment->at.line > format->last_line || format->used == 0) {
            bool gap = comment->at.line > format->last_line + 1 && !first;
            format_newline(format, format->indent);
            if (gap) format_newline(format, format->indent);
        }
        format->space = true;
        put_comment(format, comment);
        first = false;
    }
    return first;
}

/* ---- statements ---- */

static void put_statement(struct format *format, const struct ast_node *node);

/* Statements or items, each on a line of its own. */
static void put_lines(struct format *format, struct ast_nodes body, uint32_t end) {
    bool first = true;
    for (uint32_t i = 0; i < body.count; i++) {
        const struct ast_node *node = body.at[i];
        if (node->at.line) first = own_comments(format, node->at.offset, first);
        bool gap = node->at.line > format->last_line + 1 && !first;
        format_newline(format, format->indent);
        if (gap) format_newline(format, format->indent);
        format_ended(format, node->at.line);
        put_statement(format, node);
        format_ended(format, node->end_line);
        first = false;
    }
    own_comments(format, end, first);
}

static bool stays_on_line(const struct format *format, struct ast_pos open, struct ast_pos close) {
    return open.line > 0 && open.line == close.line && !pending(format, close.offset);
}

static void put_block(struct format *format, const struct ast_block *block) {
    format->space = true;
    format_word(format, "{");
    format_ended(format, block->open.line);
    if (block->body.count == 0 && !pending(format, block->close.offset)) {
        format_word(format, "}");
    } else if (stays_on_line(format, block->open, block->close)) {
        for (uint32_t i = 0; i < block->body.count; i++) {
            if (i) format_word(format, ";");
            format->space = true;
            put_statement(format, block->body.at[i]);
        }
        format->space = true;
        format_word(format, "}");
    } else {
        format->indent++;
        put_lines(format, block->body, block->close.line ? block->close.offset : 0);
        format->indent--;
        format_newline(format, format->indent);
        format_word(format, "}");
    }
    format_ended(format, block->close.line);
}

static void put_write(struct format *format, const struct ast_node *node) {
    struct ast_nodes slots = node->as.write.slots;
    if (node->as.write.right) {
        format_expression(format, node->as.write.value);
        format->space = true;
        format_word(format, "->");
    }
    for (uint32_t i = 0; i < slots.count; i++) {
        if (i) format_word(format, ",");
        if (i || node->as.write.right) format->space = true;
        format_expression(format, slots.at[i]);
        format_type(format, &node->as.write.types[i]);
    }
    if (node->as.write.right) return;
    format->space = true;
    format_word(format, "=");
    format->space = true;
    format_expression(format, node->as.write.value);
}

static void put_condition(struct format *format, const char *keyword, const struct ast_node *condition) {
    format_word(format, keyword);
    format->space = true;
    struct format_bracket opened = format_open(format, "(");
    format_expression(format, condition);
    format_close(format, opened, ")", (struct ast_pos){0, 0, 0});
}

static void put_if(struct format *format, const struct ast_node *node) {
    for (uint32_t i = 0; i < node->as.if_else.count; i++) {
        const struct ast_arm *arm = &node->as.if_else.arms[i];
        if (i) {
            uint32_t comment = format->next_comment;
            if (arm->at.line) own_comments(format, arm->at.offset, false);
            if (comment != format->next_comment) format_newline(format, format->indent);
            format->space = true;
            format_word(format, "else");
            format->space = true;
        }
        format_ended(format, arm->at.line);
        if (arm->condition) put_condition(format, "if", arm->condition);
        put_block(format, &arm->block);
    }
}

static void put_for(struct format *format, const struct ast_node *node) {
    format_word(format, "for");
    format->space = true;
    struct format_bracket opened = format_open(format, "(");
    if (node->as.for_loop.key.length) {
        format_place(format, node->as.for_loop.key_at, false);
        format_text(format, node->as.for_loop.key);
        format_word(format, ",");
        format->space = true;
    }
    format_place(format, node->as.for_loop.value_at, false);
    format_text(format, node->as.for_loop.value);
    format->space = true;
    format_word(format, "in");
    format->space = true;
    format_expression(format, node->as.for_loop.walked);
    format_close(format, opened, ")", (struct ast_pos){0, 0, 0});
    put_block(format, &node->as.for_loop.block);
}

/* ---- declarations ---- */

static void put_parameters(struct format *format, struct ast_params params) {
    struct format_bracket opened = format_open(format, "(");
    format_ended(format, params.open.line);
    for (uint32_t i = 0; i < params.count; i++) {
        const struct ast_param *param = &params.at[i];
        if (i) format_word(format, ",");
        if (i) format->space = true;
        format_place(format, param->at, false);
        format_text(format, param->name);
        format_type(format, &param->type);
        format_ended(format, param->type.at.line);
        if (param->variadic) format_word(format, "...");
    }
    format_close(format, opened, ")", params.close);
}

static void put_signature(struct format *format, const struct ast_node *node) {
    format_word(format, ast_kind_text((enum ast_kind)node->kind));
    format->space = true;
    format_text(format, node->as.function.name);
    put_parameters(format, node->as.function.reads);
    if (!node->as.function.writes_written && node->as.function.writes.count == 0) return;
    format->space = true;
    format_word(format, "->");
    format->space = true;
    put_parameters(format, node->as.function.writes);
}

static void put_field(struct format *format, const struct ast_field *field) {
    format_text(format, field->name);
    format_type(format, &field->type);
    format_ended(format, field->type.at.line);
    if (!field->value) return;
    format->space = true;
    format_word(format, "=");
    format->space = true;
    format_expression(format, field->value);
}

static void put_field_lines(struct format *format, const struct ast_node *node) {
    bool first = true;
    format->indent++;
    for (uint32_t i = 0; i < node->as.structure.count; i++) {
        const struct ast_field *field = &node->as.structure.fields[i];
        if (field->at.line) first = own_comments(format, field->at.offset, first);
        bool gap = field->at.line > format->last_line + 1 && !first;
        format_newline(format, format->indent);
        if (gap) format_newline(format, format->indent);
        format_ended(format, field->at.line);
        put_field(format, field);
        first = false;
    }
    if (node->as.structure.close.line) own_comments(format, node->as.structure.close.offset, first);
    format->indent--;
    format_newline(format, format->indent);
}

static void put_struct(struct format *format, const struct ast_node *node) {
    struct ast_pos open = node->as.structure.open, close = node->as.structure.close;
    format_word(format, "struct");
    format->space = true;
    format_text(format, node->as.structure.name);
    format->space = true;
    format_word(format, "{");
    format_ended(format, open.line);
    if (node->as.structure.count == 0 && !pending(format, close.offset)) {
        format_word(format, "}");
    } else if (stays_on_line(format, open, close)) {
        for (uint32_t i = 0; i < node->as.structure.count; i++) {
            if (i) format_word(format, ";");
            format->space = true;
            put_field(format, &node->as.structure.fields[i]);
        }
        format->space = true;
        format_word(format, "}");
    } else {
        put_field_lines(format, node);
        format_word(format, "}");
    }
    format_ended(format, close.line);
}

static void put_lib(struct format *format, const struct ast_node *node) {
    format_word(format, "lib");
    format->space = true;
    format_text(format, node->as.lib.name);
    put_block(format, &node->as.lib.block);
}

static void put_statement(struct format *format, const struct ast_node *node) {
    switch ((enum ast_kind)node->kind) {
    case AST_WRITE:
        put_write(format, node);
        break;
    case AST_RUN:
        format_expression(format, node->as.run.value);
        break;
    case AST_IF:
        put_if(format, node);
        break;
    case AST_WHILE:
        put_condition(format, "while", node->as.while_loop.condition);
        put_block(format, &node->as.while_loop.block);
        break;
    case AST_FOR:
        put_for(format, node);
        break;
    case AST_BREAK:
    case AST_CONTINUE:
    case AST_RETURN:
        format_word(format, ast_kind_text((enum ast_kind)node->kind));
        break;
    case AST_FUNCTION:
        put_signature(format, node);
        put_block(format, &node->as.function.block);
        break;
    case AST_RWIR:
        put_signature(format, node);
        break;
    case AST_STRUCT:
        put_struct(format, node);
        break;
    case AST_LIB:
        put_lib(format, node);
        break;
    default: /* an expression on its own, as dump may build it */
        format_expression(format, node);
    }
}

int format_file(const struct ast_file *file, char **out, size_t *length) {
    struct format format = {.file = file, .line_start = true};
    put_lines(&format, file->items, UINT32_MAX);
    if (format.used) append(&format, "\n", 1);
    append(&format, "", 1); /* the terminating zero, not counted */
    *out = NULL;
    *length = 0;
    if (format.out_of_memory) {
        free(format.out);
        return NO_MEMORY;
    }
    *out = format.out;
    *length = format.used - 1;
    return 0;
}
