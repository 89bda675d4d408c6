/* What the families share: see pieces.h. */
#include "std/pieces.h"

#include "kvspace/utf8.h"

/* ---- arguments ---- */

int piece_of_cell(struct core_call *call, const struct cell *cell, const char *what, bool plain, struct piece *out) {
    uint64_t units;
    size_t bytes = 0;
    if (!cell_is_text(cell)) {
        char actual[160];
        type_print(call->heap, cell, actual, sizeof actual);
        return fault(call->heap, ERROR_TYPE, "%s: %s is %s, not a text", call->row->name, what, actual);
    }
    text_units(call->heap, cell, &units);
    char *owned = malloc((size_t)units * 4 + 1);
    if (!owned) return fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory for a text of %llu characters", call->row->name, (unsigned long long)units);
    text_to_utf8(call->heap, cell, owned, (size_t)units * 4 + 1, &bytes);
    if (plain && memchr(owned, 0, bytes)) {
        free(owned);
        return fault(call->heap, ERROR_VALUE, "%s: %s has a zero byte in it", call->row->name, what);
    }
    *out = (struct piece){owned, bytes, owned};
    return 0;
}

int piece_text(struct core_call *call, uint32_t i, struct piece *out) {
    const struct cell *cell;
    int rc = native_text(call, i, &cell);
    return rc ? rc : piece_of_cell(call, cell, "the text", false, out);
}

int piece_plain(struct core_call *call, uint32_t i, struct piece *out) {
    const struct cell *cell;
    int rc = native_text(call, i, &cell);
    return rc ? rc : piece_of_cell(call, cell, "the text", true, out);
}

int piece_content(struct core_call *call, uint32_t i, struct piece *out) {
    const struct cell *cell = call->args[i];
    if (cell_is_text(cell)) return piece_of_cell(call, cell, "the text", false, out);
    if (cell_tag(cell) != TAG_ARRAY + KIND_UINT8) return native_mismatch(call, i, "a text or an array of uint8");
    const struct block *block = cell_block(call->heap, cell);
    *out = (struct piece){block_body(block), (size_t)block->body_bytes, NULL};
    return 0;
}

/* ---- options ---- */

const struct cell *option_find(struct core_call *call, uint32_t i, const char *name) {
    const struct cell *key, *value;
    uint64_t position = 0;
    char text[64];
    size_t bytes;
    if (i >= call->arg_count || cell_tag(call->args[i]) != TAG_MAP) return NULL;
    while (map_next(call->heap, call->args[i], &position, &key, &value))
        if (cell_is_text(key) && text_to_utf8(call->heap, key, text, sizeof text, &bytes) && strcmp(text, name) == 0) return value;
    return NULL;
}

int options_check(struct core_call *call, uint32_t i, const char *const *names) {
    const struct cell *key, *value;
    uint64_t position = 0;
    char text[64];
    size_t bytes;
    if (i >= call->arg_count || cell_is_none(call->args[i])) return 0;
    if (cell_tag(call->args[i]) != TAG_MAP) return native_mismatch(call, i, "a map of options");
    while (map_next(call->heap, call->args[i], &position, &key, &value)) {
        bool known = false;
        if (!cell_is_text(key)) return fault(call->heap, ERROR_TYPE, "%s: the names of options are texts", call->row->name);
        bool whole = text_to_utf8(call->heap, key, text, sizeof text, &bytes);
        for (const char *const *name = names; whole && *name && !known; name++) known = strcmp(*name, text) == 0;
        if (known) continue;
        char list[256] = "";
        for (const char *const *name = names; *name; name++) snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "", *name);
        return fault(call->heap, ERROR_VALUE, "%s: there is no option %s (there are: %s)", call->row->name, text, list);
    }
    return 0;
}

static int option_mismatch(struct core_call *call, const struct cell *cell, const char *name, const char *wanted) {
    char actual[160];
    type_print(call->heap, cell, actual, sizeof actual);
    return fault(call->heap, ERROR_TYPE, "%s: the option %s is %s, not %s", call->row->name, name, actual, wanted);
}

int option_bool(struct core_call *call, uint32_t i, const char *name, bool *truth) {
    const struct cell *cell = option_find(call, i, name);
    if (!cell) return 0;
    if (cell_tag(cell) != KIND_BOOL) return option_mismatch(call, cell, name, "a bool");
    *truth = cell->payload != 0;
    return 0;
}

int option_int64(struct core_call *call, uint32_t i, const char *name, int64_t least, int64_t most, int64_t *number) {
    const struct cell *cell = option_find(call, i, name);
    if (!cell) return 0;
    if (cell_tag(cell) != KIND_INT64) return option_mismatch(call, cell, name, "an int64");
    *number = cell_as_int64(cell);
    if (*number >= least && *number <= most) return 0;
    return fault(call->heap, ERROR_VALUE, "%s: the option %s is %lld, not from %lld to %lld", call->row->name, name, (long long)*number, (long long)least, (long long)most);
}

int option_milliseconds(struct core_call *call, uint32_t i, const char *name, int64_t *milliseconds) {
    const struct cell *cell = option_find(call, i, name);
    double seconds;
    if (!cell) return 0;
    if (cell_tag(cell) == KIND_DURATION) seconds = (double)cell_as_int64(cell) / 1e9;
    else if (cell_tag(cell) == KIND_INT64) seconds = (double)cell_as_int64(cell);
    else if (cell_tag(cell) == KIND_FLOAT64) seconds = cell_as_float64(cell);
    else return option_mismatch(call, cell, name, "a duration or a number of seconds");
    if (!(seconds > 0 && seconds < 1e6)) return fault(call->heap, ERROR_VALUE, "%s: the option %s is not above 0 and below 1000000 seconds", call->row->name, name);
    *milliseconds = (int64_t)(seconds * 1000);
    if (*milliseconds == 0) *milliseconds = 1;
    return 0;
}

/* ---- results ---- */

int text_of_bytes(struct heap *heap, const char *bytes, size_t length, struct cell *out) { return text_from_utf8(heap, bytes, length, out); }

int text_of_bytes_lossy(struct heap *heap, const char *bytes, size_t length, struct cell *out) {
    size_t valid = utf8_valid_prefix(bytes, length);
    if (valid == length) return text_from_utf8(heap, bytes, length, out);
    struct text_buffer buffer = {0};
    struct text_out sink = text_buffer_out(&buffer);
    while (length) {
        text_put(&sink, bytes, valid);
        bytes += valid;
        length -= valid;
        if (!length) break;
        text_puts(&sink, "\xef\xbf\xbd");
        bytes++;
        length--;
        valid = utf8_valid_prefix(bytes, length);
    }
    int rc = sink.error ? fault(heap, ERROR_OUT_OF_MEMORY, "no memory for a text of %zu bytes", buffer.length) : text_from_utf8(heap, buffer.bytes, buffer.length, out);
    text_buffer_free(&buffer);
    return rc;
}

int array_of_bytes(struct heap *heap, const void *bytes, size_t length, struct cell *out) {
    uint64_t dims[1] = {length};
    return array_from(heap, KIND_UINT8, 1, dims, length ? bytes : "", out);
}

int give_text(struct core_call *call, const char *bytes, size_t length) { return text_of_bytes(call->heap, length ? bytes : "", length, &call->results[0]); }
int give_bytes(struct core_call *call, const void *bytes, size_t length) { return array_of_bytes(call->heap, bytes, length, &call->results[0]); }

/* ---- maps ---- */

int members_begin(struct heap *heap, const char *type, struct cell *map) {
    const struct type_info *info;
    *map = cell_none();
    int rc = type_of_text(heap, type, strlen(type), &info);
    return rc ? rc : map_new(heap, info, 8, map);
}

int entry_put(struct heap *heap, int rc, struct cell *map, struct cell key, struct cell value) {
    struct cell next;
    if (!rc) rc = map_set(heap, map, &key, &value, 0, &next);
    cell_drop(heap, key);
    cell_drop(heap, value);
    if (rc) {
        cell_drop(heap, *map);
        *map = cell_none();
        return rc;
    }
    if (next.payload != map->payload) cell_drop(heap, *map);
    *map = next;
    return 0;
}

int member_put(struct heap *heap, int rc, struct cell *map, const char *key, struct cell value) {
    struct cell name = cell_none();
    if (!rc) rc = text_from_utf8(heap, key, strlen(key), &name);
    return entry_put(heap, rc, map, name, value);
}

int member_text(struct heap *heap, int rc, struct cell *map, const char *key, const char *bytes, size_t length) {
    struct cell text = cell_none();
    if (!rc) rc = text_of_bytes_lossy(heap, bytes, length, &text);
    return member_put(heap, rc, map, key, text);
}

int item_put(struct heap *heap, int rc, struct cell *map, int64_t index, struct cell value) { return entry_put(heap, rc, map, cell_int64(index), value); }

int item_text(struct heap *heap, int rc, struct cell *map, int64_t index, const char *bytes, size_t length) {
    struct cell text = cell_none();
    if (!rc) rc = text_of_bytes_lossy(heap, bytes, length, &text);
    return item_put(heap, rc, map, index, text);
}
