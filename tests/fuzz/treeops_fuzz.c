/* Sequences of operations on a tree against a plain model: each input is a program of small operations on a
 * few keys, run through two handles of one space that is closed and opened again in the middle. After each
 * operation its code is compared, now and then the whole tree with its order, and what was lent, slots and a
 * cursor that live on over other operations. Relies on the public interface and treeops_model.h. Promises:
 * aborts with the operation that differs. */
#include "treeops_model.h"

#include <kvspace/kvspace.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOT      "\xc2\xb7"
#define SHADOW   "\xe2\x80\xa5"
#define MAP_TYPE "[]char/utf8" DOT "any"

enum { HANDLES = 2, SLOTS = 4, LENT = 4 };

struct input {
    const uint8_t *at, *end;
};

struct run {
    struct input in;
    kvspace *handle[HANDLES];
    struct model model;
    char dsn[128];
    unsigned op;
    bool traced; /* TREEOPS_TRACE is set: every step is told */
    struct {
        struct kvspace_slot slot;
        struct model_node *node;
        uint64_t id;
    } slot[SLOTS];
    struct {
        struct kvspace_value value;
        struct model_value expected;
    } lent[LENT];
    unsigned lent_count;    /* of handle 0, whose read section is open while it is not 0 */
    kvspace_cursor *cursor; /* of handle 1 */
    struct model_node *listed;
    uint64_t listed_id;
};

static void die(const struct run *run, const char *what, const char *key, int expected, int found) {
    fprintf(stderr, "operation %u, %s %s: expected %s (%d), found %s (%d); %s | %s\n", run->op, what, key,
            kvspace_error_name(expected), expected, kvspace_error_name(found), found,
            run->handle[0] ? kvspace_message(run->handle[0]) : "",
            run->handle[1] ? kvspace_message(run->handle[1]) : "");
    abort();
}

static void same(const struct run *run, const char *what, const char *key, int expected, int found) {
    if (run->traced) fprintf(stderr, "%u %s %s: %s\n", run->op, what, key, kvspace_error_name(found));
    if (expected != found) die(run, what, key, expected, found);
}

static unsigned take(struct run *run) {
    return run->in.at < run->in.end ? *run->in.at++ : 0;
}

/* A key of one to four steps; its model path. */
static void take_key(struct run *run, char *key, struct model_path *path) {
    static const char *const names[] = {"a", "b", "c", "d", "long-name-of-a-step", "\xe6\x9c\xa8", "e", "f"};
    unsigned first = take(run), depth = 1 + (first & 3);
    char *at = key;
    if (depth == 4 && first & 4) depth = 2;
    path->count = depth;
    for (unsigned i = 0; i < depth; i++) {
        unsigned step = take(run), kind = i && step & 0x40 ? MODEL_MEMBER
                                          : step & 0x80    ? MODEL_SYSTEM
                                                           : MODEL_CHILD;
        path->step[i].member = kind == MODEL_MEMBER;
        path->step[i].name = (uint8_t)((step & 7) | (kind == MODEL_SYSTEM ? 8 : 0));
        at += sprintf(at, "%s%s",
                      kind == MODEL_CHILD    ? "/"
                      : kind == MODEL_MEMBER ? DOT
                                             : "/" SHADOW,
                      names[step & 7]);
    }
}

/* ---- values ---- */

static void fill_body(const struct model_value *value, unsigned char *body) {
    for (uint32_t i = 0; i < value->bytes; i++) body[i] = (unsigned char)(value->seed + i * 31 + (i >> 8));
    if (value->kind == MODEL_TEXT)
        for (uint32_t i = 0; i < value->bytes; i++) body[i] = (unsigned char)(' ' + body[i] % 90);
}

static unsigned char big_body[1 << 17];

/* The same as a kvspace_value; its body is in big_body. */
static struct kvspace_value value_of(const struct model_value *value) {
    static const uint32_t letter[] = {'x'};
    static const uint64_t one[] = {1};
    struct kvspace_value out = {0};
    if (value->kind == MODEL_I64) out = kvspace_value_i64(value->number);
    if (value->kind == MODEL_STRING) out = kvspace_value_array(KVSPACE_CHAR_UTF32, 1, one, letter);
    if (value->kind == MODEL_INDEX) out = (struct kvspace_value){.store = KVSPACE_INDEX, .type = MAP_TYPE};
    if (value->kind == MODEL_TEXT || value->kind == MODEL_BYTES) {
        fill_body(value, big_body);
        out = (struct kvspace_value){.kind = value->kind == MODEL_TEXT ? KVSPACE_CHAR_UTF8 : KVSPACE_UINT8,
                                     .ndim = 1,
                                     .body = big_body,
                                     .body_bytes = value->bytes};
    }
    out.ro = value->ro;
    return out;
}

static struct model_value take_value(struct run *run) {
    static const uint32_t sizes[] = {0, 1, 15, 17, 60, 64, 200, 511, 513, 1000, 5000, 33000, 70000, 3, 4, 8};
    unsigned first = take(run);
    struct model_value value = {
        .kind = (uint8_t)(first % 5), .ro = (first & 0xf0) == 0xf0, .seed = (uint8_t)take(run)};
    value.number = (int64_t)value.seed - 100;
    value.bytes = sizes[first >> 4 & 15];
    if (value.kind == MODEL_NONE) value.ro = 0;
    return value;
}

static void check_value(const struct run *run, const char *key, const struct model_value *expected, int rc,
                        const struct kvspace_value *found) {
    same(run, "get", key, expected->kind == MODEL_NONE ? KVSPACE_ENOENT : 0, rc);
    if (rc) return;
    struct kvspace_value wanted = value_of(expected);
    if (!kvspace_value_equal(&wanted, found) || found->ro != expected->ro)
        die(run, "get: another value", key, 0, 0);
}

/* ---- the whole tree ---- */

static void check_below(const struct run *run, kvspace *handle, const struct model_node *node, char *key,
                        size_t bytes);

static void check_node(const struct run *run, kvspace *handle, const struct model_node *node, char *key,
                       size_t bytes) {
    struct kvspace_value value;
    int rc = kvspace_get(handle, bytes ? key : "/", &value);
    check_value(run, key, &node->value, rc, &value);
    check_below(run, handle, node, key, bytes);
}

/* Every entry in the order of the model, and nothing else. */
static void check_below(const struct run *run, kvspace *handle, const struct model_node *node, char *key,
                        size_t bytes) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry entry;
    kvspace_cursor *cursor;
    if (bytes && !model_is_visible(node)) return;
    same(run, "list", key, 0, kvspace_list_open(handle, bytes ? key : "/", &options, &cursor));
    for (unsigned member = 0; member < 2; member++)
        for (const struct model_node *child = node->first[member]; child; child = child->next) {
            if (!model_is_visible(child)) continue;
            int rc;
            do rc = kvspace_list_next(cursor, &entry);
            while (!rc && !bytes && strcmp(entry.text, "/sys") == 0);
            same(run, "list next", key, 0, rc);
            memcpy(key + bytes, entry.text, entry.text_bytes + 1);
            const struct model_node *named = model_find_step(node, member, model_name_of(entry.name));
            if (named != child) die(run, "list: another entry", key, 0, 0);
            if (entry.has_value != (child->value.kind != MODEL_NONE) ||
                entry.has_children != !!child->first[0] || entry.has_members != !!child->first[1])
                die(run, "list: flags", key, 0, 0);
            check_node(run, handle, child, key, bytes + entry.text_bytes);
            key[bytes] = 0;
        }
    int rc;
    do rc = kvspace_list_next(cursor, &entry);
    while (!rc && !bytes && strcmp(entry.text, "/sys") == 0);
    same(run, "list end", key, KVSPACE_EEND, rc);
    kvspace_list_close(cursor);
}

static void check_all(struct run *run, kvspace *handle) {
    char key[1024] = "";
    check_node(run, handle, &run->model.root, key, 0);
}

/* ---- opening ---- */

static void open_all(struct run *run) {
    static const struct kvspace_open_options options = {.limit_bytes = UINT64_C(1) << 28};
    for (unsigned i = 0; i < HANDLES; i++)
        same(run, "open", run->dsn, 0, kvspace_open_with(run->dsn, &options, &run->handle[i]));
}

static void end_lent(struct run *run) {
    if (!run->lent_count) return;
    for (unsigned i = 0; i < run->lent_count; i++)
        check_value(run, "what was lent", &run->lent[i].expected, 0, &run->lent[i].value);
    run->lent_count = 0;
    same(run, "read end", "", 0, kvspace_read_end(run->handle[0]));
}

/* What stayed in the list all the time has been shown just once. */
static void end_cursor(struct run *run) {
    struct kvspace_entry entry;
    int rc;
    if (!run->cursor) return;
    while (!(rc = kvspace_list_next(run->cursor, &entry)))
        model_note_shown(run->listed, entry.step == KVSPACE_STEP_MEMBER, model_name_of(entry.name));
    same(run, "cursor", "", KVSPACE_EEND, rc);
    kvspace_list_close(run->cursor);
    run->cursor = NULL;
    if (run->listed->id != run->listed_id) return; /* deleted meanwhile */
    for (unsigned member = 0; member < 2; member++)
        for (const struct model_node *child = run->listed->first[member]; child; child = child->next)
            if (child->stayed && child->shown != 1)
                die(run, "cursor: shown other than once", "", 1, (int)child->shown);
}

static void close_all(struct run *run) {
    end_lent(run);
    end_cursor(run);
    for (unsigned i = 0; i < HANDLES; i++) kvspace_close(run->handle[i]);
    memset(run->slot, 0, sizeof run->slot);
    memset(run->handle, 0, sizeof run->handle);
}

/* ---- operations ---- */

static int set_in_model(struct run *run, const struct model_path *path, const struct model_value *value) {
    struct model_node *node = model_find(&run->model, path);
    if (node && node->value.ro) return KVSPACE_EREADONLY;
    if (value->kind == MODEL_NONE && !node) return 0;
    if (!node) node = model_make(&run->model, path);
    model_put(&run->model, node, value);
    if (value->kind == MODEL_NONE) model_prune(&run->model, node);
    return 0;
}

static void op_set(struct run *run, kvspace *handle) {
    struct model_path path;
    char key[256];
    take_key(run, key, &path);
    struct model_value model = take_value(run);
    struct kvspace_value value = value_of(&model);
    same(run, "set", key, set_in_model(run, &path, &model), kvspace_set(handle, key, &value));
}

static void op_get(struct run *run, kvspace *handle) {
    static const struct model_value none;
    struct kvspace_value value;
    struct model_path path;
    char key[256];
    take_key(run, key, &path);
    const struct model_node *node = model_find(&run->model, &path);
    int rc = kvspace_get(handle, key, &value);
    check_value(run, key, node ? &node->value : &none, rc, &value);
    same(run, "exists", key, node && model_is_visible(node) ? 0 : KVSPACE_ENOENT,
         kvspace_exists(handle, key));
}

static void op_del(struct run *run, kvspace *handle) {
    struct model_path path;
    char key[256];
    uint64_t deleted, expected = 0;
    bool tree = take(run) & 1;
    take_key(run, key, &path);
    struct model_node *node = model_find(&run->model, &path);
    if (tree) {
        if (node) expected = model_delete(&run->model, node);
        same(run, "del_tree", key, 0, kvspace_del_tree(handle, key, &deleted));
        same(run, "del_tree counts", key, (int)expected, (int)deleted);
        return;
    }
    int rc = node && model_is_visible(node) ? 0 : KVSPACE_ENOENT;
    if (!rc) model_delete(&run->model, node);
    same(run, "del", key, rc, kvspace_del(handle, key));
}

static void op_cp(struct run *run, kvspace *handle) {
    struct model_path from, to;
    char from_key[256], to_key[256];
    bool tree = take(run) & 1;
    take_key(run, from_key, &from);
    take_key(run, to_key, &to);
    struct model_node *source = model_find(&run->model, &from), *target = model_find(&run->model, &to);
    int rc = 0;
    if (source && model_size(source) + model_size(&run->model.root) > 3000) return;
    if (model_within(&from, &to) || model_within(&to, &from))
        rc = KVSPACE_EUSAGE;
    else if (!source || (tree ? !model_is_visible(source) : source->value.kind == MODEL_NONE))
        rc = KVSPACE_ENOENT;
    else if (!tree && target && target->value.ro)
        rc = KVSPACE_EREADONLY;
    if (!rc && tree) {
        struct model_node *copy = model_copy(&run->model, source);
        model_place(&run->model, copy, &to, NULL);
    } else if (!rc) {
        if (!target) target = model_make(&run->model, &to);
        if (source->value.kind == MODEL_INDEX) model_adopt_members(&run->model, target, source);
        model_put(&run->model, target, &source->value);
    }
    int found = tree ? kvspace_cp_tree(handle, from_key, to_key) : kvspace_cp(handle, from_key, to_key);
    same(run, tree ? "cp_tree" : "cp", to_key, rc, found);
}

static void op_replace(struct run *run, kvspace *handle) {
    struct model_path from, to, old;
    char from_key[256], to_key[256], old_key[256];
    bool with_old = take(run) & 1;
    take_key(run, from_key, &from);
    take_key(run, to_key, &to);
    if (with_old) take_key(run, old_key, &old);
    struct model_node *source = model_find(&run->model, &from);
    int rc = 0;
    if (model_within(&from, &to) || model_within(&to, &from)) rc = KVSPACE_EUSAGE;
    if (with_old && (model_within(&from, &old) || model_within(&old, &from) || model_within(&to, &old) ||
                     model_within(&old, &to)))
        rc = KVSPACE_EUSAGE;
    if (!rc && (!source || !model_is_visible(source))) rc = KVSPACE_ENOENT;
    if (!rc) {
        struct model_node *previous = with_old ? model_find(&run->model, &old) : NULL;
        if (previous) model_delete(&run->model, previous);
        model_move(&run->model, source, &to, with_old ? &old : NULL);
    }
    same(run, "replace", to_key, rc, kvspace_replace(handle, from_key, to_key, with_old ? old_key : NULL));
}

static void op_container(struct run *run, kvspace *handle) {
    static const char literal[] = "{a=1,b=\"x\",c={d=-99}}";
    struct model_path path;
    char key[256];
    bool filled = take(run) & 1;
    take_key(run, key, &path);
    struct model_node *node = model_find(&run->model, &path);
    int rc = node && node->value.ro ? KVSPACE_EREADONLY : 0;
    if (!rc) {
        static const struct model_value index = {.kind = MODEL_INDEX}, one = {.kind = MODEL_I64, .number = 1},
                                        below = {.kind = MODEL_I64, .number = -99};
        if (!node) node = model_make(&run->model, &path);
        model_clear_members(&run->model, node);
        model_put(&run->model, node, &index);
        if (filled) {
            model_put(&run->model, model_make_step(&run->model, node, 1, 0), &one);
            model_put(&run->model, model_make_step(&run->model, node, 1, 1),
                      &(struct model_value){.kind = MODEL_STRING});
            struct model_node *inner = model_make_step(&run->model, node, 1, 2);
            model_put(&run->model, inner, &index);
            model_put(&run->model, model_make_step(&run->model, inner, 1, 3), &below);
        }
    }
    int found = filled ? kvspace_set_literal(handle, key, literal, sizeof literal - 1, NULL)
                       : kvspace_mkindex(handle, key, MAP_TYPE);
    same(run, "container", key, rc, found);
}

static void op_count(struct run *run, kvspace *handle) {
    struct model_path path;
    char key[256];
    int64_t sum = 0, delta = (int8_t)take(run);
    take_key(run, key, &path);
    struct model_node *node = model_find(&run->model, &path);
    bool none = !node || node->value.kind == MODEL_NONE;
    int rc = none || node->value.kind == MODEL_I64 ? 0 : KVSPACE_ETYPE;
    if (!rc && node && node->value.ro) rc = KVSPACE_EREADONLY;
    if (!rc) {
        struct model_value value = {.kind = MODEL_I64, .number = (none ? 0 : node->value.number) + delta};
        model_put(&run->model, node ? node : model_make(&run->model, &path), &value);
        same(run, "incr", key, 0, kvspace_incr(handle, key, delta, &sum));
        if (sum != value.number) die(run, "incr: sum", key, (int)value.number, (int)sum);
        return;
    }
    same(run, "incr", key, rc, kvspace_incr(handle, key, delta, &sum));
}

static void op_cas(struct run *run, kvspace *handle) {
    static unsigned char expected_body[sizeof big_body];
    struct model_path path;
    char key[256];
    unsigned how = take(run);
    take_key(run, key, &path);
    struct model_value wanted = take_value(run), expected = {0};
    struct model_node *node = model_find(&run->model, &path);
    if (wanted.kind == MODEL_INDEX) wanted = (struct model_value){.kind = MODEL_I64, .number = 3};
    if (how & 1 && node && node->value.kind != MODEL_INDEX && node->value.kind != MODEL_STRING)
        expected = node->value;
    else if (how & 2)
        expected = (struct model_value){.kind = MODEL_I64, .number = 5};
    bool equal = node ? model_equal(&node->value, &expected) : expected.kind == MODEL_NONE;
    int rc = node && node->value.ro ? KVSPACE_EREADONLY : equal ? 0 : KVSPACE_EMISMATCH;
    if (!rc && (node || wanted.kind != MODEL_NONE)) {
        if (!node) node = model_make(&run->model, &path);
        model_put(&run->model, node, &wanted);
        if (wanted.kind == MODEL_NONE) model_prune(&run->model, node);
    }
    struct kvspace_value before = value_of(&expected);
    if (before.body == big_body) before.body = memcpy(expected_body, big_body, sizeof big_body);
    struct kvspace_value after = value_of(&wanted);
    same(run, "cas", key, rc,
         kvspace_cas(handle, key, expected.kind ? &before : NULL, wanted.kind ? &after : NULL));
}

static void op_slot(struct run *run, kvspace *handle) {
    struct model_path path;
    char key[256];
    unsigned how = take(run), at = how % SLOTS;
    struct kvspace_slot *slot = &run->slot[at].slot;
    struct model_node *node = run->slot[at].node;
    if (how & 0x80 || !slot->space) {
        take_key(run, key, &path);
        node = model_find(&run->model, &path);
        bool create = how & 0x40;
        int rc = node || create ? 0 : KVSPACE_ENOENT;
        same(run, "slot open", key, rc,
             kvspace_slot_open(handle, key, create ? KVSPACE_SLOT_CREATE : KVSPACE_SLOT_EXISTING, slot));
        if (rc) {
            kvspace_slot_close(slot);
            return;
        }
        if (!node) node = model_make(&run->model, &path);
        run->slot[at].node = node;
        run->slot[at].id = node->id;
        return;
    }
    bool gone = node->id != run->slot[at].id;
    struct kvspace_value value;
    if (how & 0x20) {
        struct model_value model = take_value(run);
        int rc = gone ? KVSPACE_EGONE : node->value.ro ? KVSPACE_EREADONLY : 0;
        if (!rc) model_put(&run->model, node, &model);
        value = value_of(&model);
        same(run, "slot set", "", rc, kvspace_slot_set(slot, &value));
    } else if (gone)
        same(run, "slot get", "", KVSPACE_EGONE, kvspace_slot_get(slot, &value));
    else {
        int64_t number;
        int rc = kvspace_slot_get(slot, &value);
        check_value(run, "a slot", &node->value, rc, &value);
        rc = node->value.kind == MODEL_I64    ? 0
             : node->value.kind == MODEL_NONE ? KVSPACE_ENOENT
                                              : KVSPACE_ETYPE;
        same(run, "slot get i64", "", rc, kvspace_slot_get_i64(slot, &number));
        if (!rc && number != node->value.number)
            die(run, "slot get i64: another", "", (int)node->value.number, (int)number);
    }
}

/* A read section of handle 0 that goes on over other operations. */
static void op_lend(struct run *run) {
    struct model_path path;
    char key[256];
    take_key(run, key, &path);
    if (run->lent_count == LENT) {
        end_lent(run);
        return;
    }
    const struct model_node *node = model_find(&run->model, &path);
    if (!node || node->value.kind == MODEL_NONE || node->value.kind == MODEL_I64) return;
    if (!run->lent_count) same(run, "read begin", key, 0, kvspace_read_begin(run->handle[0]));
    unsigned at = run->lent_count++;
    run->lent[at].expected = node->value;
    same(run, "get", key, 0, kvspace_get(run->handle[0], key, &run->lent[at].value));
}

static void op_cursor(struct run *run) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry entry;
    struct model_path path;
    char key[256];
    unsigned how = take(run);
    if (run->cursor && how & 1) {
        for (unsigned count = how >> 1 & 3; count; count--) {
            int rc = kvspace_list_next(run->cursor, &entry);
            if (rc == KVSPACE_EEND) break;
            same(run, "cursor next", "", 0, rc);
            if (run->listed->id == run->listed_id)
                model_note_shown(run->listed, entry.step == KVSPACE_STEP_MEMBER, model_name_of(entry.name));
        }
        return;
    }
    end_cursor(run);
    take_key(run, key, &path);
    if (how & 2) path.count = 1; /* directories near the root have the most in them */
    if (how & 2) key[1 + strcspn(key + 1, "/" DOT)] = 0;
    struct model_node *node = model_find(&run->model, &path);
    if (!node || !model_is_visible(node)) return;
    same(run, "cursor open", key, 0, kvspace_list_open(run->handle[1], key, &options, &run->cursor));
    run->listed = node;
    run->listed_id = node->id;
    model_watch_children(node);
}

static void op_many(struct run *run, kvspace *handle) {
    struct model_path path;
    char key[256];
    unsigned from = take(run), count = take(run) % 40;
    bool del = from & 1;
    take_key(run, key, &path);
    if (path.count == MODEL_DEPTH) return;
    size_t bytes = strlen(key);
    path.count++;
    for (unsigned i = 0; i < count; i++) {
        unsigned name = 16 + (from + i * (del ? 3 : 1)) % 200;
        path.step[path.count - 1] = (struct model_step){.member = 0, .name = (uint8_t)name};
        sprintf(key + bytes, "/n%u", name);
        struct model_node *node = model_find(&run->model, &path);
        if (del) {
            bool there = node && model_is_visible(node);
            if (there) model_delete(&run->model, node);
            same(run, "del", key, there ? 0 : KVSPACE_ENOENT, kvspace_del(handle, key));
            continue;
        }
        struct model_value value = {.kind = MODEL_I64, .number = (int64_t)i};
        int rc = set_in_model(run, &path, &value);
        same(run, "set", key, rc, kvspace_set_i64(handle, key, value.number));
    }
}

static void run_one(struct run *run) {
    unsigned op = take(run);
    kvspace *handle = run->handle[op >> 7];
    switch (op & 15) {
    case 0:
    case 1:
    case 2: op_set(run, handle); break;
    case 3: op_get(run, handle); break;
    case 4: op_del(run, handle); break;
    case 5: op_cp(run, handle); break;
    case 6: op_replace(run, handle); break;
    case 7: op_container(run, handle); break;
    case 8: op_count(run, handle); break;
    case 9: op_cas(run, handle); break;
    case 10: op_slot(run, handle); break;
    case 11: op_lend(run); break;
    case 12: op_cursor(run); break;
    case 13: op_many(run, handle); break;
    case 14: check_all(run, handle); break;
    default:
        if ((op >> 4 & 7) != 7) break;
        close_all(run);
        open_all(run);
        check_all(run, run->handle[0]);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    struct run *run = calloc(1, sizeof *run);
    if (!run) return 0;
    run->traced = getenv("TREEOPS_TRACE") != NULL;
    run->in = (struct input){bytes, bytes + (count < 4096 ? count : 4096)};
    snprintf(run->dsn, sizeof run->dsn, "shm:%s/treeops-fuzz-%ld",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
    unlink(run->dsn + 4);
    open_all(run);
    for (; run->in.at < run->in.end; run->op++) run_one(run);
    end_lent(run);
    check_all(run, run->handle[0]);
    check_all(run, run->handle[1]);
    close_all(run);
    unlink(run->dsn + 4);
    model_free(&run->model);
    free(run);
    return 0;
}
