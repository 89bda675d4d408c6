/* Items into the tree (emit.h): one walk over the keys of an item serves comparing and writing alike.
 * An item is written whole under `/lib/‥stage/…` and moved to its key in one step; the one before goes to `/lib/‥old/…@version`,
 * since frames may run it. Relies on utf8.h for texts, space.h for a name of the stage that no other handle uses. */
#include "layout/emit.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kvspace/space.h"
#include "kvspace/utf8.h"
#include "layout/sweep.h"

/* A walk over what an item has below its key; `visit` gets the key's rest and the value that belongs there. */
struct walk {
    kvspace *space;
    int (*visit)(struct walk *walk, const struct kvspace_value *value);
    char key[KVSPACE_KEY_MAX + 1]; /* of the item, then the rest */
    size_t base;                   /* bytes of the item's key */
    uint64_t children;             /* visited that are direct children */
    uint32_t *points;              /* scratch for texts */
    size_t point_room;
    bool differs;                  /* comparing: something is not as it should be */
};

static int extend(struct walk *walk, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int extend(struct walk *walk, size_t at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(walk->key + at, sizeof walk->key - at, format, arguments);
    va_end(arguments);
    return bytes < 0 || (size_t)bytes >= sizeof walk->key - at ? KVSPACE_EKEY : 0;
}

/* ---- values of slots ---- */

static int text_value(struct walk *walk, unsigned kind, struct ast_text text, struct kvspace_value *out) {
    if (kind != KIND_CHAR_UTF32) {
        *out = (struct kvspace_value){.kind = (uint8_t)kind, .ndim = 1, .body = text.at, .body_bytes = text.length};
        return 0;
    }
    if (walk->point_room < (size_t)text.length + 1) {
        uint32_t *points = realloc(walk->points, ((size_t)text.length + 1) * 2 * sizeof *points);
        if (!points) return KVSPACE_ENOMEM;
        walk->points = points;
        walk->point_room = ((size_t)text.length + 1) * 2;
    }
    size_t count = 0;
    (void)utf8_to_utf32(text.at, text.length, walk->points, walk->point_room, &count); /* sources are valid UTF-8 */
    *out = (struct kvspace_value){.kind = KVSPACE_CHAR_UTF32, .ndim = 1, .body = walk->points, .body_bytes = count * sizeof *walk->points};
    return 0;
}

static int visit_slot(struct walk *walk, const struct layout_slot *slot);

/* `·name`, `·7`, `·true`, `·[1,2]`: as the core writes members of maps. */
static int record_step(struct walk *walk, size_t at, const struct layout_slot *key) {
    if (key->kind == SLOT_TEXT) return extend(walk, at, "·%.*s", (int)key->as.text.length, key->as.text.at);
    if (key->kind == SLOT_SCALAR && key->value_kind == KIND_BOOL) return extend(walk, at, "·%s", key->as.bits ? "true" : "false");
    if (key->kind == SLOT_SCALAR) return extend(walk, at, "·%lld", (long long)rows_slot_int(key));
    if (key->kind != SLOT_ARRAY) return KVSPACE_EKEY;
    int rc = extend(walk, at, "·[");
    for (size_t i = 0; !rc && i < key->as.array->bytes / sizeof(int64_t); i++)
        rc = extend(walk, strlen(walk->key), "%s%lld", i ? "," : "", (long long)((const int64_t *)key->as.array->body)[i]);
    return rc ? rc : extend(walk, strlen(walk->key), "]");
}

static int visit_record(struct walk *walk, const struct layout_record *record) {
    size_t at = strlen(walk->key);
    struct kvspace_value head = {.store = KVSPACE_INDEX, .type = record->type.at, .type_bytes = record->type.length};
    int rc = walk->visit(walk, &head);
    for (uint32_t i = 0; !rc && i < record->count; i++) {
        if (record->values[i].kind == SLOT_NONE) continue;
        rc = record_step(walk, at, &record->keys[i]);
        if (!rc) rc = visit_slot(walk, &record->values[i]);
    }
    walk->key[at] = '\0';
    return rc;
}

/* The slot at walk->key. */
static int visit_slot(struct walk *walk, const struct layout_slot *slot) {
    char target[KVSPACE_KEY_MAX + 1];
    struct kvspace_value value;
    int rc = 0;
    switch ((enum layout_slot_kind)slot->kind) {
    case SLOT_NONE: value = kvspace_value_word("none", "", 0); break;
    case SLOT_NAME: value = kvspace_value_word("name", slot->as.text.at, slot->as.text.length); break;
    case SLOT_PATH:
        if (slot->as.text.length > KVSPACE_KEY_MAX) return KVSPACE_EKEY;
        memcpy(target, slot->as.text.at, slot->as.text.length);
        target[slot->as.text.length] = '\0';
        value = kvspace_value_pointer(target);
        break;
    case SLOT_SCALAR:
    case SLOT_LABEL: value = kvspace_value_scalar((enum kvspace_kind)slot->value_kind, &slot->as.bits); break;
    case SLOT_TEXT: rc = text_value(walk, slot->value_kind, slot->as.text, &value); break;
    case SLOT_ARRAY:
        value = kvspace_value_array((enum kvspace_kind)slot->value_kind, slot->as.array->ndim, slot->as.array->dims, slot->as.array->body);
        value.body_bytes = slot->as.array->bytes;
        break;
    case SLOT_RECORD: return visit_record(walk, slot->as.record);
    }
    return rc ? rc : walk->visit(walk, &value);
}

/* ---- the keys of an item ---- */

static int visit_child(struct walk *walk, unsigned row, int column, const struct kvspace_value *value) {
    int rc = extend(walk, walk->base, "/[%u,%d]", row, column);
    if (rc) return rc;
    walk->children++;
    return walk->visit(walk, value);
}

static int visit_params(struct walk *walk, const struct layout_item *item) {
    char text[KVSPACE_TYPE_MAX + KVSPACE_STEP_MAX];
    for (uint32_t i = 0; i < item->reads + item->writes; i++) {
        const struct layout_param *param = &item->params[i];
        bool dots = item->variadic && i + 1 == item->reads;
        int bytes = snprintf(text, sizeof text, "%.*s:%.*s%s", (int)param->name.length, param->name.at, (int)param->type.length, param->type.at, dots ? "..." : "");
        if (bytes < 0 || (size_t)bytes >= sizeof text) return KVSPACE_ELIMIT;
        struct kvspace_value value = kvspace_value_word("param", text, (size_t)bytes);
        int rc = visit_child(walk, 0, i < item->reads ? -(int)i - 1 : (int)(i - item->reads) + 1, &value);
        if (rc) return rc;
    }
    return 0;
}

static int visit_row(struct walk *walk, unsigned number, const struct layout_row *row) {
    struct kvspace_value opcode = kvspace_value_word("opcode", row->opcode.at, row->opcode.length);
    int rc = visit_child(walk, number, 0, &opcode);
    for (uint32_t i = 0; !rc && i < row->reads + row->writes; i++) {
        const struct layout_slot *slot = &row->slots[i];
        bool read = i < row->reads;
        if (slot->kind == SLOT_NONE && (!read || i + 1 < row->reads)) continue;
        rc = extend(walk, walk->base, "/[%u,%d]", number, read ? -(int)i - 1 : (int)(i - row->reads) + 1);
        walk->children++;
        if (!rc) rc = visit_slot(walk, slot);
    }
    return rc;
}

static int visit_defaults(struct walk *walk, const struct layout_item *item) {
    int rc = 0;
    for (uint32_t i = 0; item->defaults && i < item->writes && !rc; i++) {
        if (item->defaults[i].kind == SLOT_NONE) continue;
        rc = extend(walk, walk->base, "/[1,%u]", i + 1);
        walk->children++;
        if (!rc) rc = visit_slot(walk, &item->defaults[i]);
    }
    return rc;
}

static int visit_system(struct walk *walk, const char *name, struct ast_text text) {
    if (!text.length) return 0;
    int rc = extend(walk, walk->base, "/‥%s", name);
    struct kvspace_value value = kvspace_value_utf8(text.at, text.length);
    return rc ? rc : walk->visit(walk, &value);
}

/* Everything that makes the item what it is; not where it came from. */
static int visit_item(struct walk *walk, const struct layout_item *item) {
    static const char *const types[] = {[ITEM_FUNCTION] = "rwfunc", [ITEM_RWIR] = "def rwir", [ITEM_STRUCT] = "def struct"};
    uint32_t head[4] = {item->reads, item->writes, item->variadic, item->row_count};
    bool structure = item->kind == ITEM_STRUCT;
    struct kvspace_value value = kvspace_value_word(types[item->kind], structure ? &head[1] : head, structure ? sizeof head[1] : sizeof head);
    walk->key[walk->base] = '\0';
    int rc = walk->visit(walk, &value);
    if (!rc) rc = visit_params(walk, item);
    for (uint32_t r = 0; !rc && r < item->row_count; r++) rc = visit_row(walk, r + 1, &item->rows[r]);
    if (!rc) rc = visit_defaults(walk, item);
    if (!rc) rc = visit_system(walk, "src", item->source);
    if (!rc) rc = visit_system(walk, "doc", item->doc);
    return rc;
}

static int write_value(struct walk *walk, const struct kvspace_value *value) {
    if (value->store == KVSPACE_INDEX) {
        char type[KVSPACE_TYPE_MAX];
        if (value->type_bytes >= sizeof type) return KVSPACE_ELIMIT;
        memcpy(type, value->type, value->type_bytes);
        type[value->type_bytes] = '\0';
        return kvspace_mkindex(walk->space, walk->key, type);
    }
    return kvspace_set(walk->space, walk->key, value);
}

static int start_walk(struct walk *walk, kvspace *space, struct ast_text key, int (*visit)(struct walk *, const struct kvspace_value *)) {
    *walk = (struct walk){.space = space, .visit = visit};
    walk->base = key.length;
    return extend(walk, 0, "%.*s", (int)key.length, key.at);
}

/* ---- comparing ---- */

enum { DIFFERENT = -1 }; /* ends the walk */

static int compare_value(struct walk *walk, const struct kvspace_value *wanted) {
    struct kvspace_value there;
    int rc = kvspace_get(walk->space, walk->key, &there);
    if (rc && rc != KVSPACE_ENOENT) return rc;
    bool same = !rc && there.ref == wanted->ref;
    if (same && wanted->kind) {
        uint64_t bytes = wanted->ndim ? wanted->body_bytes : kvspace_kind_bytes(wanted->kind);
        same = there.kind == wanted->kind && there.ndim == wanted->ndim && there.body_bytes == bytes && (!bytes || !memcmp(there.body, wanted->body, bytes));
        for (unsigned i = 0; same && wanted->dims && i < wanted->ndim; i++) same = there.dims[i] == wanted->dims[i];
    } else if (same) {
        size_t type_bytes = wanted->type_bytes ? wanted->type_bytes : wanted->type ? strlen(wanted->type) : 0;
        same = there.body_bytes == wanted->body_bytes && (!wanted->body_bytes || !memcmp(there.body, wanted->body, wanted->body_bytes)) &&
               (wanted->ref || (there.type_bytes == type_bytes && (!wanted->type || !memcmp(there.type, wanted->type, type_bytes))));
    }
    return same ? 0 : DIFFERENT;
}

/* Children of the key that are rows: `[r,c]`. */
static int count_children(kvspace *space, const char *key, uint64_t *count) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_CHILDREN};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    *count = 0;
    int rc = kvspace_list_open(space, key, &options, &cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) *count += entry.name[0] == '[';
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

int emit_same(kvspace *space, const struct layout_item *item, bool *same) {
    struct walk walk;
    uint64_t children;
    int rc = start_walk(&walk, space, item->path, compare_value);
    if (!rc) rc = visit_item(&walk, item);
    free(walk.points);
    *same = rc == 0;
    if (rc) return rc == DIFFERENT ? 0 : rc;
    walk.key[walk.base] = '\0';
    rc = count_children(space, walk.key, &children);
    *same = !rc && children == walk.children;
    return rc;
}

/* ---- writing ---- */

/* ‥file and ‥map, where they are not so already. */
static int write_origin(struct walk *walk, const struct layout_item *item, struct ast_text file) {
    int rc = visit_system(walk, "file", file);
    if (rc || item->kind != ITEM_FUNCTION) return rc;
    uint64_t dims[2] = {(uint64_t)item->row_count + 1, 2};
    int32_t *map = malloc(dims[0] * 2 * sizeof *map);
    if (!map) return KVSPACE_ENOMEM;
    map[0] = (int32_t)item->line;
    map[1] = (int32_t)item->column;
    for (uint32_t r = 0; r < item->row_count; r++) {
        map[2 * r + 2] = (int32_t)item->rows[r].line;
        map[2 * r + 3] = (int32_t)item->rows[r].column;
    }
    struct kvspace_value value = kvspace_value_array(KVSPACE_INT32, 2, dims, map);
    value.body_bytes = dims[0] * 2 * sizeof *map;
    rc = extend(walk, walk->base, "/‥map");
    if (!rc) rc = walk->visit(walk, &value);
    free(map);
    return rc;
}

static int refresh_value(struct walk *walk, const struct kvspace_value *value) {
    int rc = compare_value(walk, value);
    return rc == DIFFERENT ? write_value(walk, value) : rc;
}

static int refresh_origin(kvspace *space, const struct layout_item *item, struct ast_text file) {
    struct walk walk;
    int rc = start_walk(&walk, space, item->path, refresh_value);
    return rc ? rc : write_origin(&walk, item, file);
}

static int version_of(kvspace *space, const char *key, uint64_t *version) {
    char path[KVSPACE_KEY_MAX + 1];
    *version = 0;
    if (snprintf(path, sizeof path, "%s/‥version", key) >= (int)sizeof path) return KVSPACE_EKEY;
    int rc = kvspace_get_u64(space, path, version);
    return rc == KVSPACE_ENOENT || rc == KVSPACE_ETYPE ? 0 : rc;
}

/* The item whole at the stage, its version behind the one that is there. */
static int write_stage(kvspace *space, const char *stage, const struct layout_item *item, struct ast_text file, uint64_t version) {
    struct walk walk;
    int rc = start_walk(&walk, space, ast_text_of(stage), write_value);
    if (!rc) rc = kvspace_del_tree(space, stage, NULL); /* left by one who died with this name */
    if (!rc) rc = visit_item(&walk, item);
    if (!rc) rc = write_origin(&walk, item, file);
    if (!rc) rc = extend(&walk, walk.base, "/‥version");
    if (!rc) rc = kvspace_set_u64(space, walk.key, version);
    free(walk.points);
    return rc;
}

/* ---- what else stands below the key of an item: the functions of a lib of that name, libs in it ---- */

static bool is_foreign(const struct kvspace_entry *entry) {
    return entry->step == KVSPACE_STEP_MEMBER || (entry->step == KVSPACE_STEP_CHILD && entry->name[0] != '[');
}

/* Each foreign entry of `from` to the same place below `to`; with `to` NULL they are deleted. */
static int move_foreign(kvspace *space, const char *from, const char *to) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    char source[KVSPACE_KEY_MAX + 1], target[KVSPACE_KEY_MAX + 1];
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int rc = kvspace_list_open(space, from, &options, &cursor);
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) {
        if (!is_foreign(&entry)) continue;
        if (snprintf(source, sizeof source, "%s%s", from, entry.text) >= (int)sizeof source) rc = KVSPACE_EKEY;
        if (!rc && to && snprintf(target, sizeof target, "%s%s", to, entry.text) >= (int)sizeof target) rc = KVSPACE_EKEY;
        if (!rc) rc = to ? kvspace_cp_tree(space, source, target) : kvspace_del_tree(space, source, NULL);
        if (rc && rc != KVSPACE_ENOENT) break; /* what went in the meantime is gone */
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

static int replace_item(kvspace *space, const struct layout_item *item, struct ast_text file) {
    char key[KVSPACE_KEY_MAX + 1], stage[64], old[KVSPACE_KEY_MAX + 1];
    uint64_t version;
    if (item->path.length >= sizeof key) return KVSPACE_EKEY;
    memcpy(key, item->path.at, item->path.length);
    key[item->path.length] = '\0';
    int rc = version_of(space, key, &version);
    if (rc) return rc;
    snprintf(stage, sizeof stage, "/lib/‥stage/%u", space->arena.own_slot);
    int bytes = snprintf(old, sizeof old, "/lib/‥old/%s@%llu", key + strlen("/lib/"), (unsigned long long)version);
    if (bytes < 0 || (size_t)bytes >= sizeof old) return KVSPACE_EKEY;
    rc = write_stage(space, stage, item, file, version + 1);
    if (!rc) rc = move_foreign(space, key, stage);
    if (!rc) rc = kvspace_replace(space, stage, key, version ? old : NULL);
    if (rc || !version) return rc;
    rc = move_foreign(space, old, NULL);
    return rc ? rc : sweep_stamp(space, old);
}

static int write_inits(kvspace *space, const struct layout_unit *unit) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < unit->init_count; i++) bytes += unit->inits[i].length + 1;
    char *text = malloc(bytes + 1);
    if (!text) return KVSPACE_ENOMEM;
    size_t at = 0;
    for (uint32_t i = 0; i < unit->init_count; i++) {
        memcpy(text + at, unit->inits[i].at, unit->inits[i].length);
        at += unit->inits[i].length;
        text[at++] = '\n';
    }
    struct kvspace_value value = kvspace_value_utf8(text, at);
    struct walk walk;
    int rc = start_walk(&walk, space, ast_text_of("/lib/‥inits"), refresh_value);
    if (!rc) rc = refresh_value(&walk, &value);
    free(text);
    return rc;
}

int emit_unit(kvspace *space, const struct layout_unit *unit) {
    int rc = 0;
    for (uint32_t i = 0; i < unit->count && !rc; i++) {
        bool same;
        rc = emit_same(space, &unit->items[i], &same);
        if (!rc) rc = same ? refresh_origin(space, &unit->items[i], unit->file) : replace_item(space, &unit->items[i], unit->file);
    }
    if (!rc) rc = write_inits(space, unit);
    return rc ? rc : sweep_old(space);
}
