/* A subtree of /lib as source (layout_dump): each function as it was written where its rows are still those of its text, else as undo.c
 * makes statements of its rows. Relies on tree_item.h, undo.h, and on the compiler for the proof: a text is printed only after it has been
 * compiled against the tree and came out as what is there. Order: a block a lib, parents first, in the order of the tree; the libs'
 * instructions in the order in which they ran. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "layout/emit.h"
#include "layout/layout.h"
#include "layout/lower.h"
#include "layout/parse.h"
#include "layout/tree_item.h"
#include "layout/tree_names.h"
#include "layout/undo.h"

/* One item to print. */
struct dumped {
    struct layout_item item;
    struct ast_text package;
    struct ast_text text; /* the declaration; the instructions of an init, a statement each in `starts` */
    uint32_t *starts;     /* offsets in text where statements begin, then where the last ends */
    uint32_t start_count;
    bool is_init;
    bool undone; /* the text is made from rows */
    bool exact; /* the text lays out to what is there */
};

struct dump {
    kvspace *space;
    struct ast_arena *arena;
    struct layout_tree tree;
    struct dumped *all;
    uint32_t count, room;
    struct ast_text inits; /* `/lib/‥inits`, a path a line */
    bool whole; /* all of /lib: opcodes that a runtime registered are left out */
    char key[KVSPACE_KEY_MAX + 1];
};

/* ---- what is there ---- */

static struct ast_text package_of(struct ast_text path) {
    static const char dot[] = "·";
    uint32_t from = sizeof "/lib/" - 1, end = from;
    for (uint32_t i = from; i + 1 < path.length; i++)
        if (!memcmp(path.at + i, dot, 2)) end = i;
    return (struct ast_text){path.at + from, end - from};
}

static int add(struct dump *dump) {
    struct kvspace_value value;
    int rc = kvspace_get(dump->space, dump->key, &value);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    int kind = tree_item_kind(&value);
    if (kind < 0 || (dump->whole && kind == ITEM_RWIR && !tree_item_has_source(dump->space, dump->key))) return 0;
    if (dump->count == dump->room) {
        uint32_t room = dump->room ? dump->room * 2 : 32;
        struct dumped *all = realloc(dump->all, room * sizeof *all);
        if (!all) return KVSPACE_ENOMEM;
        dump->all = all;
        dump->room = room;
    }
    struct dumped *dumped = &dump->all[dump->count];
    *dumped = (struct dumped){.text = {"", 0}};
    rc = tree_item(dump->space, dump->arena, dump->key, &dumped->item);
    if (rc == KVSPACE_EVALUE) return 0; /* damaged by hand: no item */
    if (rc) return rc;
    dumped->package = package_of(dumped->item.path);
    dump->count++;
    return 0;
}

static int gather_below(struct dump *dump, size_t length, unsigned depth);

/* Members first: the functions of the lib, then the libs inside. */
static int gather_pass(struct dump *dump, size_t length, unsigned depth, bool members) {
    struct kvspace_list_options options = {.what = members ? KVSPACE_LIST_MEMBERS : KVSPACE_LIST_CHILDREN};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int rc = kvspace_list_open(dump->space, dump->key, &options, &cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) {
        if (entry.name[0] == '[' || length + entry.text_bytes > KVSPACE_KEY_MAX) continue;
        memcpy(dump->key + length, entry.text, (size_t)entry.text_bytes + 1);
        if (entry.has_value) rc = add(dump);
        if (!rc && !members) rc = gather_below(dump, length + entry.text_bytes, depth + 1);
        dump->key[length] = '\0';
        if (rc) break;
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

static int gather_below(struct dump *dump, size_t length, unsigned depth) {
    enum { LIBS_NEST_MOST = 64 };
    if (depth > LIBS_NEST_MOST) return 0;
    int rc = gather_pass(dump, length, depth, true);
    return rc ? rc : gather_pass(dump, length, depth, false);
}

/* ---- the proof ---- */

struct reading {
    struct ast_arena arena;
    struct diag_list diags;
    struct ast_file file;
    struct layout_unit unit;
};

static void reading_free(struct reading *reading) {
    diag_free(&reading->diags);
    ast_arena_free(&reading->arena);
}

/* `lib pkg {` text `}`, or the text alone; malloc'd. */
static char *wrapped(const struct dumped *dumped, size_t *length) {
    size_t room = dumped->package.length + dumped->text.length + 16;
    char *text = malloc(room);
    if (!text) return NULL;
    int bytes = dumped->package.length ? snprintf(text, room, "lib %.*s {\n", (int)dumped->package.length, dumped->package.at) : 0;
    size_t used = bytes > 0 ? (size_t)bytes : 0;
    memcpy(text + used, dumped->text.at, dumped->text.length);
    used += dumped->text.length;
    text[used++] = '\n';
    if (dumped->package.length) text[used++] = '}';
    *length = used;
    return text;
}

/* dumped->exact: compiled against the tree, the text gives the item that is there. */
static int prove(struct dump *dump, struct dumped *dumped) {
    struct reading reading = {.diags = {.count = 0}};
    size_t length;
    char *text = wrapped(dumped, &length);
    if (!text) return KVSPACE_ENOMEM;
    int rc = parse_file(&reading.arena, &reading.diags, ast_text_of("dump"), text, length, &reading.file);
    if (!rc) rc = lower_file(&reading.arena, &reading.diags, &reading.file, &dump->tree, &reading.unit);
    dumped->exact = false;
    bool whole = !rc && !reading.diags.errors && reading.unit.count == 1 && ast_text_equal(reading.unit.items[0].path, dumped->item.path);
    if (whole) {
        struct layout_item *made = &reading.unit.items[0];
        if (!dumped->item.source.length) made->source = dumped->item.source; /* written by hand: what it says is what counts */
        if (!dumped->item.source.length) made->doc = dumped->item.doc;
        rc = emit_same(dump->space, made, &dumped->exact);
    }
    free(text);
    reading_free(&reading);
    return rc == PARSE_NO_MEMORY ? KVSPACE_ENOMEM : rc < 0 ? -rc : whole ? rc : 0;
}

/* ---- texts ---- */

/* An init's text is instructions; a function that is called init is a declaration. Finds where the statements are. */
static int split_init(struct dump *dump, struct dumped *dumped) {
    struct reading reading = {.diags = {.count = 0}};
    int rc = parse_file(&reading.arena, &reading.diags, ast_text_of("dump"), dumped->text.at, dumped->text.length, &reading.file);
    const struct ast_nodes *items = &reading.file.items;
    if (!rc && !(items->count == 1 && items->at[0]->kind == AST_FUNCTION)) {
        dumped->is_init = true;
        dumped->starts = ast_alloc(dump->arena, ((size_t)items->count + 1) * sizeof *dumped->starts);
        if (!dumped->starts) rc = PARSE_NO_MEMORY;
        for (uint32_t i = 0; !rc && i < items->count; i++) { /* a statement begins its line */
            uint32_t start = items->at[i]->at.offset;
            while (start && dumped->text.at[start - 1] != '\n') start--;
            dumped->starts[dumped->start_count++] = start;
        }
    }
    reading_free(&reading);
    return rc == PARSE_NO_MEMORY ? KVSPACE_ENOMEM : 0;
}

static bool is_named_init(const struct dumped *dumped) {
    static const char name[] = "init";
    uint32_t before = dumped->package.length ? sizeof "/lib/" - 1 + dumped->package.length + 2 : sizeof "/lib/" - 1;
    return dumped->item.path.length == before + 4 && !memcmp(dumped->item.path.at + before, name, 4);
}

/* An init without a text that says what it is: one of a lib is listed. */
static bool runs_as_init(const struct dump *dump, const struct dumped *dumped) {
    const struct ast_text order = dump->inits, path = dumped->item.path;
    if (!dumped->package.length) return true;
    for (uint32_t from = 0, end; from < order.length; from = end + 1) {
        for (end = from; end < order.length && order.at[end] != '\n';) end++;
        if (end - from == path.length && !memcmp(order.at + from, path.at, path.length)) return true;
    }
    return false;
}

static int text_of_item(struct dump *dump, struct dumped *dumped) {
    int rc = 0;
    if (dumped->item.source.length) {
        dumped->text = dumped->item.source;
        if (is_named_init(dumped)) rc = split_init(dump, dumped);
        if (!rc) rc = prove(dump, dumped);
        if (rc || dumped->exact) return rc;
    }
    struct ast_text text;
    dumped->is_init = dumped->item.is_init = is_named_init(dumped) && !dumped->item.reads && !dumped->item.writes && runs_as_init(dump, dumped);
    dumped->undone = true;
    if (undo_item(dump->arena, &dumped->item, &text)) return KVSPACE_ENOMEM;
    dumped->text = text;
    dumped->item.source = (struct ast_text){"", 0};
    rc = text.length ? prove(dump, dumped) : 0;
    if (!dumped->exact) { /* there is no such text: the rows are shown */
        dumped->text = (struct ast_text){"", 0};
        dumped->is_init = false;
    }
    return rc;
}

/* ---- printing ---- */

static void put(struct text_out *out, struct ast_text text) {
    text_put(out, text.at, text.length);
}

static void put_comment(const struct dumped *dumped, const char *indent, struct text_out *out) {
    struct text_buffer rows = {0};
    struct text_out listing = text_buffer_out(&rows);
    rows_list(&dumped->item, &listing);
    text_puts(out, indent);
    text_puts(out, "# What follows has no form in source; these are its rows:\n");
    for (size_t from = 0, end; from < rows.length; from = end + 1) {
        end = from;
        while (end < rows.length && rows.bytes[end] != '\n') end++;
        text_puts(out, indent);
        text_puts(out, "# ");
        text_put(out, rows.bytes + from, end - from);
        text_puts(out, "\n");
    }
    text_buffer_free(&rows);
}

static void put_item(const struct dumped *dumped, struct text_out *out) {
    const char *indent = dumped->package.length ? "\t" : "";
    if (!dumped->text.length) {
        put_comment(dumped, indent, out);
        return;
    }
    if (dumped->is_init && dumped->undone) {
        put(out, dumped->text);
        return;
    }
    if (!dumped->is_init) {
        text_puts(out, indent);
        put(out, dumped->text);
        text_puts(out, "\n");
        return;
    }
    for (uint32_t i = 0; i < dumped->start_count; i++) {
        uint32_t from = dumped->starts[i], end = i + 1 < dumped->start_count ? dumped->starts[i + 1] : dumped->text.length;
        text_puts(out, indent);
        text_put(out, dumped->text.at + from, end - from);
        if (dumped->text.at[end - 1] != '\n') text_puts(out, "\n");
    }
}

static void put_lib(const struct dump *dump, struct ast_text package, bool declarations, bool inits, struct text_out *out) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < dump->count; i++) {
        const struct dumped *dumped = &dump->all[i];
        if (!ast_text_equal(dumped->package, package) || !(dumped->is_init ? inits : declarations)) continue;
        if (!shown++ && package.length) {
            text_puts(out, "lib ");
            put(out, package);
            text_puts(out, " {\n");
        } else if (shown > 1) text_puts(out, "\n");
        put_item(dumped, out);
    }
    if (shown && package.length) text_puts(out, "}\n\n");
    else if (shown) text_puts(out, "\n");
}

static bool is_first_of_package(const struct dump *dump, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (ast_text_equal(dump->all[i].package, dump->all[index].package)) return false;
    return true;
}

static const struct dumped *init_of(const struct dump *dump, const char *path, size_t length) {
    for (uint32_t i = 0; i < dump->count; i++)
        if (dump->all[i].is_init && dump->all[i].item.path.length == length && !memcmp(dump->all[i].item.path.at, path, length)) return &dump->all[i];
    return NULL;
}

/* The inits' libs in the order of `/lib/‥inits`, each once; false where the blocks of the libs have that order anyway. */
static bool inits_stand_apart(const struct dump *dump, const char *order, size_t bytes) {
    uint32_t last = 0;
    for (size_t from = 0, end; from < bytes; from = end + 1) {
        for (end = from; end < bytes && order[end] != '\n';) end++;
        const struct dumped *init = init_of(dump, order + from, end - from);
        if (!init) continue;
        uint32_t first = 0;
        while (!ast_text_equal(dump->all[first].package, init->package)) first++;
        if (first < last) return true;
        last = first;
    }
    return false;
}

static void put_all(const struct dump *dump, struct text_out *out) {
    const struct ast_text none = {"", 0};
    const char *order = dump->inits.at;
    size_t bytes = dump->inits.length;
    bool apart = inits_stand_apart(dump, order, bytes);
    for (uint32_t i = 0; i < dump->count; i++)
        if (is_first_of_package(dump, i)) put_lib(dump, dump->all[i].package, true, dump->all[i].package.length && !apart, out);
    for (size_t from = 0, end; apart && from < bytes; from = end + 1) {
        for (end = from; end < bytes && order[end] != '\n';) end++;
        const struct dumped *init = init_of(dump, order + from, end - from);
        if (init) put_lib(dump, init->package, false, true, out);
    }
    for (uint32_t i = 0; apart && i < dump->count; i++) { /* of files laid out before */
        char line[KVSPACE_KEY_MAX + 3];
        const struct ast_text path = dump->all[i].item.path;
        snprintf(line, sizeof line, "%.*s\n", (int)path.length, path.at);
        if (dump->all[i].is_init && dump->all[i].package.length && !memmem(order, bytes, line, strlen(line))) put_lib(dump, dump->all[i].package, false, true, out);
    }
    put_lib(dump, none, false, true, out);
}

/* ---- the call ---- */

static int gather(struct dump *dump, const char *key) {
    static const char lib[] = "/lib";
    size_t length = strlen(key);
    if (length > KVSPACE_KEY_MAX) return KVSPACE_EKEY;
    memcpy(dump->key, key, length + 1);
    dump->whole = strcmp(key, lib) == 0;
    int rc = dump->whole ? 0 : add(dump);
    if (!rc) rc = gather_below(dump, length, 0);
    for (uint32_t i = 0; i < dump->count && !rc; i++) rc = text_of_item(dump, &dump->all[i]);
    return rc;
}

int layout_dump(kvspace *space, const char *key, bool rows, struct text_out *out, struct layout_dumped *result) {
    struct ast_arena arena = {0};
    struct dump dump = {.space = space, .arena = &arena, .inits = {"", 0}};
    struct kvspace_value *order = NULL;
    tree_names(space, &dump.tree);
    *result = (struct layout_dumped){0};
    int rc = kvspace_get_copy(space, "/lib/‥inits", &order);
    if (rc == KVSPACE_ENOENT) rc = 0;
    if (order && order->kind == KVSPACE_CHAR_UTF8) dump.inits = (struct ast_text){order->body, (uint32_t)order->body_bytes};
    if (!rc) rc = gather(&dump, key);
    for (uint32_t i = 0; !rc && i < dump.count; i++) {
        result->inexact += !dump.all[i].exact;
        if (rows) rows_list(&dump.all[i].item, out);
    }
    result->count = dump.count;
    if (!rc && !rows) put_all(&dump, out);
    kvspace_value_free(order);
    free(dump.all);
    ast_arena_free(&arena);
    return rc == KVSPACE_ENOMEM ? LAYOUT_NO_MEMORY : rc ? LAYOUT_SPACE : LAYOUT_OK;
}
