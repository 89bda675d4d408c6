/* The plain model of a tree for treeops_fuzz.c: nodes with a value, and children and members in lists in
 * order of insertion. Everything is linear search. Relies on malloc. Promises: nodes are not freed before the
 * end, so that a pointer to a deleted one may be asked for its id, which is 0 then. */
#ifndef KVLANG_TESTS_TREEOPS_MODEL_H
#define KVLANG_TESTS_TREEOPS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_DEPTH = 6 };
enum model_kind { MODEL_NONE = 0, MODEL_I64, MODEL_TEXT, MODEL_BYTES, MODEL_INDEX, MODEL_STRING };
enum { MODEL_CHILD, MODEL_MEMBER, MODEL_SYSTEM };

struct model_value {
    uint8_t kind, ro, seed;
    uint32_t bytes;
    int64_t number;
};

struct model_step {
    uint8_t member, name; /* name: 0 to 7, 8 more for a system variable; from 16 on "n<name>" */
};
struct model_path {
    unsigned count;
    struct model_step step[MODEL_DEPTH];
};

struct model_node {
    uint64_t id; /* 0: dead */
    struct model_value value;
    struct model_step step;
    struct model_node *parent, *next, *first[2], *pool;
    bool stayed;
    unsigned shown;
};

struct model {
    struct model_node root, *pool;
    uint64_t ids;
};

static struct model_node *model_new(struct model *model) {
    struct model_node *node = calloc(1, sizeof *node);
    if (!node) abort();
    node->pool = model->pool;
    model->pool = node;
    node->id = ++model->ids;
    return node;
}

static void model_free(struct model *model) {
    while (model->pool) {
        struct model_node *node = model->pool;
        model->pool = node->pool;
        free(node);
    }
}

/* ---- names and paths ---- */

static uint8_t model_name_of(const char *text) {
    static const char *const names[] = {"a", "b", "c", "d", "long-name-of-a-step", "\xe6\x9c\xa8", "e", "f"};
    uint8_t system = 0;
    if (text[0] == 'n') return (uint8_t)atoi(text + 1);
    if (strncmp(text, "\xe2\x80\xa5", 3) == 0) {
        system = 8;
        text += 3;
    }
    for (uint8_t i = 0; i < 8; i++)
        if (strcmp(names[i], text) == 0) return i | system;
    return 255;
}

static bool model_same_step(struct model_step one, struct model_step two) {
    return one.member == two.member && one.name == two.name;
}

static bool model_within(const struct model_path *path, const struct model_path *top) {
    if (path->count < top->count) return false;
    for (unsigned i = 0; i < top->count; i++)
        if (!model_same_step(path->step[i], top->step[i])) return false;
    return true;
}

static struct model_node *model_find_step(const struct model_node *node, unsigned member, uint8_t name) {
    for (struct model_node *child = node->first[member]; child; child = child->next)
        if (child->step.name == name) return child;
    return NULL;
}

static struct model_node *model_find(struct model *model, const struct model_path *path) {
    struct model_node *node = &model->root;
    for (unsigned i = 0; i < path->count && node; i++)
        node = model_find_step(node, path->step[i].member, path->step[i].name);
    return node;
}

static bool model_is_visible(const struct model_node *node) {
    return node->value.kind != MODEL_NONE || node->first[0] || node->first[1];
}

static uint64_t model_size(const struct model_node *node) {
    uint64_t size = 1;
    for (unsigned member = 0; member < 2; member++)
        for (const struct model_node *child = node->first[member]; child; child = child->next)
            size += model_size(child);
    return size;
}

static bool model_equal(const struct model_value *one, const struct model_value *two) {
    if (one->kind != two->kind) return false;
    if (one->kind == MODEL_I64) return one->number == two->number;
    return one->kind == MODEL_NONE || (one->bytes == two->bytes && (one->seed == two->seed || !one->bytes));
}

/* ---- changing ---- */

static void model_link(struct model_node *parent, struct model_node *child) {
    struct model_node **place = &parent->first[child->step.member];
    while (*place) place = &(*place)->next;
    *place = child;
    child->next = NULL;
    child->parent = parent;
    child->stayed = false;
}

static void model_unlink(struct model_node *child) {
    struct model_node **place = &child->parent->first[child->step.member];
    while (*place != child) place = &(*place)->next;
    *place = child->next;
    child->stayed = false;
    if (!model_is_visible(child->parent)) child->parent->stayed = false;
}

static struct model_node *model_make_step(struct model *model, struct model_node *parent, uint8_t member,
                                          uint8_t name) {
    struct model_node *child = model_find_step(parent, member, name);
    if (child) return child;
    child = model_new(model);
    child->step = (struct model_step){.member = member, .name = name};
    model_link(parent, child);
    return child;
}

static struct model_node *model_make(struct model *model, const struct model_path *path) {
    struct model_node *node = &model->root;
    for (unsigned i = 0; i < path->count; i++)
        node = model_make_step(model, node, path->step[i].member, path->step[i].name);
    return node;
}

static uint64_t model_kill(struct model_node *node) {
    uint64_t values = node->value.kind != MODEL_NONE;
    for (unsigned member = 0; member < 2; member++)
        for (struct model_node *child = node->first[member]; child; child = child->next)
            values += model_kill(child);
    node->id = 0;
    return values;
}

static void model_prune(struct model *model, struct model_node *node) {
    while (node != &model->root && !model_is_visible(node)) {
        struct model_node *parent = node->parent;
        model_unlink(node);
        model_kill(node);
        node = parent;
    }
}

static uint64_t model_delete(struct model *model, struct model_node *node) {
    struct model_node *parent = node->parent;
    model_unlink(node);
    uint64_t values = model_kill(node);
    model_prune(model, parent);
    return values;
}

static void model_clear_members(struct model *model, struct model_node *node) {
    (void)model;
    while (node->first[1]) {
        struct model_node *member = node->first[1];
        model_unlink(member);
        model_kill(member);
    }
}

/* As kvspace_set: members go with the container that they belonged to. */
static void model_put(struct model *model, struct model_node *node, const struct model_value *value) {
    struct model_value copy = *value;
    if (node->value.kind == MODEL_INDEX && copy.kind != MODEL_INDEX) model_clear_members(model, node);
    node->value = copy;
    if (!model_is_visible(node)) node->stayed = false;
}

static struct model_node *model_copy(struct model *model, const struct model_node *node) {
    struct model_node *copy = model_new(model);
    copy->value = node->value;
    copy->step = node->step;
    for (unsigned member = 0; member < 2; member++)
        for (const struct model_node *child = node->first[member]; child; child = child->next)
            model_link(copy, model_copy(model, child));
    return copy;
}

static void model_adopt_members(struct model *model, struct model_node *into, const struct model_node *from) {
    struct model_node *copy = model_copy(model, from);
    model_clear_members(model, into);
    while (copy->first[1]) {
        struct model_node *member = copy->first[1];
        model_unlink(member);
        model_link(into, member);
    }
}

/* Puts a node that hangs nowhere at a path: in the place of what is there, which goes to `old` or dies. */
static void model_place(struct model *model, struct model_node *node, const struct model_path *to,
                        const struct model_path *old) {
    struct model_path above = *to;
    above.count--;
    struct model_node *parent = model_make(model, &above), *target = model_find(model, to);
    node->step = to->step[to->count - 1];
    if (!target) {
        model_link(parent, node);
        return;
    }
    struct model_node **place = &parent->first[node->step.member];
    while (*place != target) place = &(*place)->next;
    *place = node;
    node->next = target->next;
    node->parent = parent;
    node->stayed = false;
    target->stayed = false;
    if (!old) {
        model_kill(target);
        return;
    }
    above = *old;
    above.count--;
    target->step = old->step[old->count - 1];
    model_link(model_make(model, &above), target);
}

static void model_move(struct model *model, struct model_node *node, const struct model_path *to,
                       const struct model_path *old) {
    struct model_node *from = node->parent;
    struct model_path above = *(old ? old : to);
    above.count--;
    model_unlink(node);
    model_place(model, node, to, old);
    if (old) model_make(model, &above); /* made in any case, and then nothing may be there */
    if (from->id) model_prune(model, from);
    struct model_node *left = old ? model_find(model, &above) : NULL;
    if (left) model_prune(model, left);
}

/* ---- what a cursor shows ---- */

static void model_watch_children(struct model_node *node) {
    for (unsigned member = 0; member < 2; member++)
        for (struct model_node *child = node->first[member]; child; child = child->next) {
            child->stayed = model_is_visible(child);
            child->shown = 0;
        }
}

static void model_note_shown(struct model_node *node, unsigned member, uint8_t name) {
    struct model_node *child = model_find_step(node, member, name);
    if (child) child->shown++;
}

#endif
