/* Whatever text comes in, the compiler ends with diagnostics or with rows that hold together: every row has an opcode, jumps go to rows that
 * there are, reads of a row are no labels any more, a function ends in a row that does not fall out of it; and compiling again gives the same rows.
 * Relies on the compiler, with the opcodes of this runtime for a tree. A broken promise aborts, which the drivers record. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "layout/layout.h"
#include "layout/lower.h"
#include "layout/parse.h"
#include "std/opcode_tree.h"
#include "promise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct compiled {
    struct ast_arena arena;
    struct diag_list diags;
    struct ast_file file;
    struct layout_unit unit;
    bool good;
};

static void compile(struct compiled *compiled, const uint8_t *data, size_t size) {
    struct opcode_tree opcodes;
    *compiled = (struct compiled){.good = false};
    opcode_tree_start(&opcodes, NULL);
    int rc = parse_file(&compiled->arena, &compiled->diags, ast_text_of("fuzz.kv"), (const char *)data, size, &compiled->file);
    if (rc == PARSE_OK) {
        rc = lower_file(&compiled->arena, &compiled->diags, &compiled->file, &opcodes.tree, &compiled->unit);
        if (rc) broken("without want of memory the compiler ends in rows or diagnostics");
        compiled->good = !compiled->diags.errors;
    } else if (rc != PARSE_REJECTED) broken("the parser has memory enough for a small text");
    else if (!compiled->diags.errors) broken("what is rejected has an error");
    size_t shown = 0;
    diag_render(&compiled->diags, compiled->file.name, compiled->file.source, count_bytes, &shown);
    if (compiled->diags.count && !shown) broken("diagnostics are shown");
}

static void compiled_free(struct compiled *compiled) {
    diag_free(&compiled->diags);
    ast_arena_free(&compiled->arena);
}

static bool is(const struct layout_row *row, const char *opcode) {
    return ast_text_is(row->opcode, opcode);
}

/* The reads of a row that are numbers of rows: from which on, how many. */
static uint32_t jumps(const struct layout_row *row, uint32_t *from) {
    *from = is(row, "br") ? 1 : is(row, "next") ? 2 : 0;
    return is(row, "goto") ? 1 : is(row, "br") || is(row, "next") ? 2 : 0;
}

static void check_rows(const struct layout_item *item) {
    if (!item->row_count) broken("a function has rows");
    for (uint32_t r = 0; r < item->row_count; r++) {
        const struct layout_row *row = &item->rows[r];
        uint32_t from, count = jumps(row, &from);
        if (!row->opcode.length) broken("a row has an opcode");
        if (!row->line || !row->column) broken("a row has a place");
        if (from + count > row->reads) broken("a jump has its targets");
        for (uint32_t i = 0; i < row->reads + row->writes; i++)
            if (row->slots[i].kind == SLOT_LABEL) broken("labels have become numbers");
        for (uint32_t i = from; i < from + count; i++) {
            int64_t target = rows_slot_int(&row->slots[i]);
            if (row->slots[i].kind != SLOT_SCALAR || target < 1 || target > item->row_count) broken("a jump goes to a row");
        }
        for (uint32_t i = row->reads; i < row->reads + row->writes; i++)
            if (row->slots[i].kind != SLOT_NAME && row->slots[i].kind != SLOT_PATH) broken("a write slot is a name or a path");
    }
    const struct layout_row *last = &item->rows[item->row_count - 1];
    if (!is(last, "return") && !is(last, "goto") && !is(last, "br") && !is(last, "tailcall") && !is(last, "next")) broken("the last row does not fall out of the function");
}

static struct text_buffer listing_of(const struct compiled *compiled) {
    struct text_buffer listing = {0};
    struct text_out out = text_buffer_out(&listing);
    text_puts(&out, "");
    rows_list_unit(&compiled->unit, &out);
    return listing;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct compiled first, second;
    compile(&first, data, size);
    if (first.good) {
        for (uint32_t i = 0; i < first.unit.count; i++)
            if (first.unit.items[i].kind == ITEM_FUNCTION) check_rows(&first.unit.items[i]);
        compile(&second, data, size);
        if (!second.good) broken("a text that compiles does so again");
        struct text_buffer a = listing_of(&first), b = listing_of(&second);
        if (a.length != b.length || (a.length && memcmp(a.bytes, b.bytes, a.length) != 0)) broken("compiling again gives the same rows");
        text_buffer_free(&a);
        text_buffer_free(&b);
        compiled_free(&second);
    }
    compiled_free(&first);
    return 0;
}
