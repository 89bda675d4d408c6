/* Items out of the tree (tree_item.h). Two walks over the children of the key: one counts the slots of each row, one reads them.
 * Relies on utf8.h for texts. */
#include "layout/tree_item.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kvspace/utf8.h"

enum { RECORD_DEPTH_MOST = 64, CELLS_MOST = 1 << 26 };

struct reader {
    kvspace *space;
    struct ast_arena *arena;
    struct layout_item *item;
    char key[KVSPACE_KEY_MAX + 1];
    size_t base;
};

int tree_item_kind(const struct kvspace_value *value) {
    static const char *const types[] = {[ITEM_FUNCTION] = "rwfunc", [ITEM_RWIR] = "def rwir", [ITEM_STRUCT] = "def struct"};
    for (int i = 0; i < 3; i++)
        if (value->type && value->type_bytes == strlen(types[i]) && !memcmp(value->type, types[i], value->type_bytes)) return i;
    return -1;
}

static void *taken(struct reader *reader, const void *bytes, size_t count, int *rc) {
    void *copy = ast_alloc(reader->arena, count + 1);
    if (!copy) *rc = KVSPACE_ENOMEM;
    else if (count) memcpy(copy, bytes, count);
    return copy;
}

static struct ast_text text_taken(struct reader *reader, const void *bytes, uint64_t count, int *rc) {
    if (count > INT32_MAX) *rc = KVSPACE_EVALUE;
    const char *copy = *rc ? NULL : taken(reader, bytes, (size_t)count, rc);
    return copy ? (struct ast_text){copy, (uint32_t)count} : (struct ast_text){"", 0};
}

/* ---- slots ---- */

static int text_slot(struct reader *reader, const struct kvspace_value *value, struct layout_slot *slot) {
    int rc = 0;
    *slot = (struct layout_slot){.kind = SLOT_TEXT, .value_kind = value->kind};
    if (value->kind != KVSPACE_CHAR_UTF32) {
        slot->as.text = text_taken(reader, value->body, value->body_bytes, &rc);
        return rc;
    }
    size_t points = (size_t)(value->body_bytes / sizeof(uint32_t)), written = 0;
    char *text = points < INT32_MAX / 4 ? ast_alloc(reader->arena, points * 4 + 1) : NULL;
    if (!text) return KVSPACE_ENOMEM;
    if (points) (void)utf32_to_utf8(value->body, points, text, points * 4, &written);
    slot->as.text = (struct ast_text){text, (uint32_t)written};
    return 0;
}

static int array_slot(struct reader *reader, const struct kvspace_value *value, struct layout_slot *slot) {
    int rc = 0;
    struct layout_array *array = ast_alloc(reader->arena, sizeof *array);
    if (!array) return KVSPACE_ENOMEM;
    *array = (struct layout_array){.ndim = value->ndim, .bytes = (size_t)value->body_bytes};
    if (value->ndim > sizeof array->dims / sizeof array->dims[0]) return KVSPACE_EVALUE;
    for (unsigned i = 0; i < value->ndim; i++) array->dims[i] = value->dims[i];
    array->body = taken(reader, value->body, array->bytes, &rc);
    *slot = (struct layout_slot){.kind = SLOT_ARRAY, .value_kind = value->kind, .as.array = array};
    return rc;
}

/* `7`, `true`, `[1,2]` and names, as the members of maps are written. */
static int record_key(struct reader *reader, struct ast_text type, const char *name, struct layout_slot *slot) {
    int rc = 0;
    bool text = type.length && (type.at[0] == '/' || (type.length > 6 && !memcmp(type.at, "[]char", 6)));
    char *end;
    long long number = strtoll(name, &end, 10);
    if (!text && name[0] == '[') {
        int64_t numbers[8];
        uint32_t count = 0;
        for (const char *at = name + 1; *at && *at != ']' && count < 8; at = *end == ',' ? end + 1 : end) {
            numbers[count++] = strtoll(at, &end, 10);
            if (end == at) return KVSPACE_EVALUE;
        }
        struct layout_array *array = ast_alloc(reader->arena, sizeof *array);
        if (!array) return KVSPACE_ENOMEM;
        *array = (struct layout_array){.ndim = 1, .dims = {count}, .bytes = count * sizeof numbers[0]};
        array->body = taken(reader, numbers, array->bytes, &rc);
        *slot = (struct layout_slot){.kind = SLOT_ARRAY, .value_kind = KIND_INT64, .as.array = array};
    } else if (!text && !*end && end != name) *slot = rows_int(number);
    else if (!text && (!strcmp(name, "true") || !strcmp(name, "false"))) *slot = rows_bool(name[0] == 't');
    else *slot = rows_text(text_taken(reader, name, strlen(name), &rc));
    return rc;
}

static int read_slot(struct reader *reader, struct layout_slot *slot, unsigned depth);

/* The container at reader->key, whose head is value. */
static int record_slot(struct reader *reader, const struct kvspace_value *value, struct layout_slot *slot, unsigned depth) {
    struct kvspace_counts counts;
    struct kvspace_list_options options = {.what = KVSPACE_LIST_MEMBERS};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    size_t at = strlen(reader->key);
    int rc = 0;
    struct layout_record *record = ast_alloc(reader->arena, sizeof *record);
    if (!record) return KVSPACE_ENOMEM;
    record->type = text_taken(reader, value->type, value->type_bytes, &rc);
    if (!rc) rc = kvspace_count(reader->space, reader->key, &counts);
    if (rc) return rc;
    if (depth > RECORD_DEPTH_MOST || counts.members > CELLS_MOST) return KVSPACE_EVALUE;
    record->keys = ast_alloc(reader->arena, 2 * (size_t)counts.members * sizeof *record->keys + 1);
    if (!record->keys) return KVSPACE_ENOMEM;
    record->values = record->keys + counts.members;
    *slot = (struct layout_slot){.kind = SLOT_RECORD, .as.record = record};
    rc = kvspace_list_open(reader->space, reader->key, &options, &cursor);
    if (rc) return rc;
    while (record->count < counts.members && (rc = kvspace_list_next(cursor, &entry)) == 0) {
        if (at + entry.text_bytes > KVSPACE_KEY_MAX) rc = KVSPACE_EKEY;
        if (!rc) rc = record_key(reader, record->type, entry.name, &record->keys[record->count]);
        if (rc) break;
        memcpy(reader->key + at, entry.text, (size_t)entry.text_bytes + 1);
        rc = read_slot(reader, &record->values[record->count++], depth + 1);
        reader->key[at] = '\0';
        if (rc) break;
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

static bool has_type(const struct kvspace_value *value, const char *type) {
    return value->type && value->type_bytes == strlen(type) && !memcmp(value->type, type, value->type_bytes);
}

/* The slot at reader->key. */
static int read_slot(struct reader *reader, struct layout_slot *slot, unsigned depth) {
    struct kvspace_value value;
    int rc = kvspace_get(reader->space, reader->key, &value);
    *slot = (struct layout_slot){.kind = SLOT_NONE};
    if (rc) return rc == KVSPACE_ENOENT ? 0 : rc;
    if (value.ref == KVSPACE_POINTER) *slot = rows_path(text_taken(reader, value.body, value.body_bytes, &rc));
    else if (has_type(&value, "name")) *slot = rows_name(text_taken(reader, value.body, value.body_bytes, &rc));
    else if (has_type(&value, "none")) return 0;
    else if (value.store == KVSPACE_INDEX) return record_slot(reader, &value, slot, depth);
    else if (!value.kind || value.ref) return KVSPACE_EVALUE;
    else if (value.ndim == 1 && value.kind >= KVSPACE_CHAR_UTF32 && value.kind <= KVSPACE_CHAR_ASCII) return text_slot(reader, &value, slot);
    else if (value.ndim) return array_slot(reader, &value, slot);
    else *slot = (struct layout_slot){.kind = SLOT_SCALAR, .value_kind = value.kind, .as.bits = value.scalar.u64};
    return rc;
}

/* ---- rows ---- */

/* `[r,c]`. */
static bool place_of(const char *name, uint32_t *row, int32_t *column) {
    char *end;
    if (name[0] != '[' || name[1] < '0' || name[1] > '9') return false;
    unsigned long r = strtoul(name + 1, &end, 10);
    if (*end != ',' || r > CELLS_MOST) return false;
    const char *from = end + 1;
    long c = strtol(from, &end, 10);
    if (end == from || strcmp(end, "]") != 0 || c > CELLS_MOST || c < -CELLS_MOST) return false;
    *row = (uint32_t)r;
    *column = (int32_t)c;
    return true;
}

/* Calls visit for each child that is a slot of row 1 or later. */
static int each_cell(struct reader *reader, int (*visit)(struct reader *reader, struct layout_row *row, int32_t column)) {
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    int rc = kvspace_list_open(reader->space, reader->key, NULL, &cursor);
    if (rc) return rc;
    while ((rc = kvspace_list_next(cursor, &entry)) == 0) {
        uint32_t row;
        int32_t column;
        if (!place_of(entry.name, &row, &column) || !row || row > reader->item->row_count) continue;
        if (reader->base + entry.text_bytes > KVSPACE_KEY_MAX) rc = KVSPACE_EKEY;
        else {
            memcpy(reader->key + reader->base, entry.text, (size_t)entry.text_bytes + 1);
            rc = visit(reader, &reader->item->rows[row - 1], column);
            reader->key[reader->base] = '\0';
        }
        if (rc) break;
    }
    kvspace_list_close(cursor);
    return rc == KVSPACE_EEND ? 0 : rc;
}

static int count_cell(struct reader *reader, struct layout_row *row, int32_t column) {
    (void)reader;
    if (column < 0 && (uint32_t)-column > row->reads) row->reads = (uint32_t)-column;
    if (column > 0 && (uint32_t)column > row->writes) row->writes = (uint32_t)column;
    return 0;
}

static int read_cell(struct reader *reader, struct layout_row *row, int32_t column) {
    if (column) return read_slot(reader, &row->slots[column < 0 ? -column - 1 : (int32_t)row->reads + column - 1], 0);
    struct kvspace_value value;
    int rc = kvspace_get(reader->space, reader->key, &value);
    if (!rc && !has_type(&value, "opcode")) rc = KVSPACE_EVALUE;
    if (!rc) row->opcode = text_taken(reader, value.body, value.body_bytes, &rc);
    return rc;
}

static int read_rows(struct reader *reader) {
    struct layout_item *item = reader->item;
    uint64_t cells = 0;
    item->rows = ast_alloc(reader->arena, ((size_t)item->row_count + 1) * sizeof *item->rows);
    if (!item->rows) return KVSPACE_ENOMEM;
    int rc = each_cell(reader, count_cell);
    for (uint32_t r = 0; !rc && r < item->row_count; r++) {
        struct layout_row *row = &item->rows[r];
        cells += (uint64_t)row->reads + row->writes;
        if (cells > CELLS_MOST) return KVSPACE_EVALUE;
        row->opcode = (struct ast_text){"", 0};
        row->slots = ast_alloc(reader->arena, ((size_t)row->reads + row->writes + 1) * sizeof *row->slots);
        if (!row->slots) return KVSPACE_ENOMEM;
    }
    if (!rc) rc = each_cell(reader, read_cell);
    for (uint32_t r = 0; !rc && r < item->row_count; r++)
        if (!item->rows[r].opcode.length) rc = KVSPACE_EVALUE;
    return rc;
}

/* ---- the head ---- */

static int at(struct reader *reader, const char *rest) {
    int bytes = snprintf(reader->key + reader->base, sizeof reader->key - reader->base, "%s", rest);
    return bytes < 0 || (size_t)bytes >= sizeof reader->key - reader->base ? KVSPACE_EKEY : 0;
}

static int read_param(struct reader *reader, struct layout_param *param, bool last_read) {
    struct kvspace_value value;
    int rc = kvspace_get(reader->space, reader->key, &value);
    if (rc) return rc == KVSPACE_ENOENT ? KVSPACE_EVALUE : rc;
    struct ast_text text = text_taken(reader, value.body, value.body_bytes, &rc);
    const char *colon = memchr(text.at, ':', text.length);
    if (rc || !colon) return rc ? rc : KVSPACE_EVALUE;
    param->name = (struct ast_text){text.at, (uint32_t)(colon - text.at)};
    param->type = (struct ast_text){colon + 1, text.length - param->name.length - 1};
    bool dots = param->type.length > 3 && !memcmp(param->type.at + param->type.length - 3, "...", 3);
    if (last_read && dots) param->type.length -= 3;
    return 0;
}

static int read_params(struct reader *reader) {
    struct layout_item *item = reader->item;
    uint32_t count = item->reads + item->writes;
    char rest[32];
    int rc = 0;
    item->params = ast_alloc(reader->arena, ((size_t)count + 1) * sizeof *item->params);
    item->defaults = ast_alloc(reader->arena, ((size_t)item->writes + 1) * sizeof *item->defaults);
    if (!item->params || !item->defaults) return KVSPACE_ENOMEM;
    for (uint32_t i = 0; i < count && !rc; i++) {
        snprintf(rest, sizeof rest, "/[0,%d]", i < item->reads ? -(int)i - 1 : (int)(i - item->reads) + 1);
        rc = at(reader, rest);
        if (!rc) rc = read_param(reader, &item->params[i], item->variadic && i + 1 == item->reads);
    }
    for (uint32_t i = 0; item->kind == ITEM_STRUCT && i < item->writes && !rc; i++) {
        snprintf(rest, sizeof rest, "/[1,%u]", (unsigned)i + 1);
        rc = at(reader, rest);
        if (!rc) rc = read_slot(reader, &item->defaults[i], 0);
    }
    reader->key[reader->base] = '\0';
    return rc;
}

static int read_system(struct reader *reader, const char *rest, struct ast_text *text) {
    struct kvspace_value value;
    int rc = at(reader, rest);
    *text = (struct ast_text){"", 0};
    if (!rc) rc = kvspace_get(reader->space, reader->key, &value);
    if (!rc && value.kind == KVSPACE_CHAR_UTF8) *text = text_taken(reader, value.body, value.body_bytes, &rc);
    reader->key[reader->base] = '\0';
    return rc == KVSPACE_ENOENT ? 0 : rc;
}

int tree_item(kvspace *space, struct ast_arena *arena, const char *key, struct layout_item *item) {
    struct reader reader = {.space = space, .arena = arena, .item = item};
    struct kvspace_value value;
    uint32_t head[4] = {0};
    *item = (struct layout_item){.path = {"", 0}, .source = {"", 0}, .doc = {"", 0}};
    int rc = at(&reader, key);
    if (!rc) rc = kvspace_get(space, key, &value);
    if (rc) return rc;
    int kind = tree_item_kind(&value);
    if (kind < 0) return KVSPACE_ENOENT;
    bool structure = kind == ITEM_STRUCT;
    size_t bytes = structure ? sizeof head[0] : sizeof head;
    if (value.body_bytes < bytes) return KVSPACE_EVALUE;
    memcpy(structure ? &head[1] : head, value.body, bytes);
    if (head[0] > CELLS_MOST || head[1] > CELLS_MOST || head[3] > CELLS_MOST) return KVSPACE_EVALUE;
    item->kind = (uint8_t)kind;
    item->reads = head[0];
    item->writes = head[1];
    item->variadic = head[2] != 0;
    item->row_count = kind == ITEM_FUNCTION ? head[3] : 0;
    item->path = text_taken(&reader, key, strlen(key), &rc);
    reader.base = strlen(key);
    if (!rc) rc = read_params(&reader);
    if (!rc && item->row_count) rc = read_rows(&reader);
    if (!rc) rc = read_system(&reader, "/‥src", &item->source);
    if (!rc) rc = read_system(&reader, "/‥doc", &item->doc);
    return rc;
}

bool tree_item_has_source(kvspace *space, const char *key) {
    char place[KVSPACE_KEY_MAX + 1];
    struct kvspace_value value;
    return snprintf(place, sizeof place, "%s/‥file", key) < (int)sizeof place && kvspace_get(space, place, &value) == 0;
}
