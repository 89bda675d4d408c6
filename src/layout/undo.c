/* Items back to declarations (undo.h): heads, structs, opcodes, documentation. */
#include "layout/undo.h"
#include "layout/layout.h"
#include <stdlib.h>
#include <string.h>

static void put(struct undo *undo, struct ast_text text) {
    text_put(undo->out, text.at, text.length);
}

static struct ast_text package_of(struct ast_text path, struct ast_text *name) {
    static const char dot[] = "·";
    uint32_t from = sizeof "/lib/" - 1, end = from;
    for (uint32_t i = from; i + 1 < path.length; i++)
        if (!memcmp(path.at + i, dot, 2)) end = i;
    uint32_t begin = end > from ? end + 2 : from;
    *name = (struct ast_text){path.at + begin, path.length - begin};
    return (struct ast_text){path.at + from, end - from};
}

static void put_doc(struct undo *undo) {
    struct ast_text doc = undo->item->doc;
    for (uint32_t from = 0, end; from < doc.length; from = end + 1) {
        for (end = from; end < doc.length && doc.at[end] != '\n';) end++;
        text_puts(undo->out, "# ");
        text_put(undo->out, doc.at + from, end - from);
        text_puts(undo->out, "\n");
        undo_indent(undo);
    }
}

static void put_params(struct undo *undo, uint32_t from, uint32_t to) {
    text_puts(undo->out, "(");
    for (uint32_t i = from; i < to; i++) {
        const struct layout_param *param = &undo->item->params[i];
        if (i > from) text_puts(undo->out, ", ");
        put(undo, param->name);
        text_puts(undo->out, ":");
        put(undo, param->type);
        if (undo->item->variadic && i + 1 == undo->item->reads) text_puts(undo->out, "...");
    }
    text_puts(undo->out, ")");
}

static void put_head(struct undo *undo, const char *word, struct ast_text name) {
    const struct layout_item *item = undo->item;
    text_puts(undo->out, word);
    put(undo, name);
    put_params(undo, 0, item->reads);
    text_puts(undo->out, " -> ");
    put_params(undo, item->reads, item->reads + item->writes);
}

static void put_struct(struct undo *undo, struct ast_text name) {
    const struct layout_item *item = undo->item;
    text_puts(undo->out, "struct ");
    put(undo, name);
    text_puts(undo->out, " {");
    for (uint32_t i = 0; i < item->writes && !undo->failed; i++) {
        const struct layout_slot *slot = &item->defaults[i];
        text_puts(undo->out, i ? "; " : " ");
        put(undo, item->params[i].name);
        text_puts(undo->out, ":");
        put(undo, item->params[i].type);
        if (slot->kind == SLOT_NONE) continue;
        text_puts(undo->out, " = ");
        put(undo, undo_operand(undo, slot).text);
    }
    text_puts(undo->out, " }");
}

/* How many jumps go to each row; a jump to nowhere fails. */
static void count_jumps(struct undo *undo) {
    const struct layout_item *item = undo->item;
    for (uint32_t r = 1; r <= item->row_count; r++) {
        const struct layout_row *row = undo_row_at(undo, r);
        uint32_t from = undo_is(row, "br") ? 1 : undo_is(row, "next") ? 2 : 0, count = undo_is(row, "goto") ? 1 : from ? 2 : 0;
        for (uint32_t i = from; i < from + count; i++) {
            uint32_t target = i < row->reads ? undo_target(undo, &row->slots[i]) : 0;
            if (target) undo->jumped[target]++;
            else undo->failed = true;
        }
    }
}

static void put_function(struct undo *undo, struct ast_text name) {
    const struct layout_item *item = undo->item;
    undo->jumped = calloc((size_t)item->row_count + 2, sizeof *undo->jumped);
    if (!undo->jumped) {
        undo->out_of_memory = true;
        return;
    }
    count_jumps(undo);
    if (!item->is_init) {
        put_head(undo, "rwfunc ", name);
        text_puts(undo->out, " {\n");
        undo->indent++;
    }
    if (!undo->failed) undo_rows(undo, 1, item->row_count + 1);
    if (!item->is_init) {
        undo->indent--;
        undo_indent(undo);
        text_puts(undo->out, "}");
    }
    free(undo->jumped);
}

int undo_item(struct ast_arena *arena, const struct layout_item *item, struct ast_text *text) {
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    struct ast_text name;
    struct undo undo = {.arena = arena, .item = item, .out = &out};
    *text = (struct ast_text){"", 0};
    undo.package = package_of(item->path, &name);
    undo.indent = undo.package.length ? 1 : 0; /* inside of its lib */
    put_doc(&undo);
    if (item->kind == ITEM_STRUCT) put_struct(&undo, name);
    else if (item->kind == ITEM_RWIR) put_head(&undo, "rwir ", name);
    else put_function(&undo, name);
    if (!undo.failed && !out.error) *text = ast_copy(arena, (struct ast_text){buffer.bytes, (uint32_t)buffer.length});
    bool lost = undo.out_of_memory || out.error || (!undo.failed && !text->length);
    text_buffer_free(&buffer);
    free(undo.temps);
    return lost ? LAYOUT_NO_MEMORY : 0;
}
