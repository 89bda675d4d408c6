/* Cursors over what is directly below a key (kvspace.h). A stored key is listed live, a step at a time: the cursor keeps the place
 * in the child table and the insertion number of the last entry, by which it finds its place again in a table that was rebuilt.
 * What providers and overlays show is collected when the cursor is opened. Relies on table.h, provider.h. */
#include "kvspace/api.h"
#include "kvspace/cell.h"
#include "kvspace/path.h"
#include "kvspace/provider.h"

#include <stdlib.h>
#include <string.h>

struct kvspace_cursor {
    kvspace *space;
    enum kvspace_list what;
    uint32_t node;
    uint64_t birth;
    bool members;       /* at the members already */
    uint32_t table;     /* that `position` is in */
    uint32_t rebuilt;
    uint32_t position;
    uint32_t beside;     /* node of the entry before `position`, live or not; 0: none */
    uint32_t last_order; /* of the last live one, with `any_seen` */
    bool any_seen;       /* in this table */
    struct kvspace_provider_listing collected;
    size_t collected_at;
    char text[KVSPACE_STEP_MAX + 8];
};

static void fill_entry(struct kvspace_cursor *cursor, enum kvspace_step step, const char *name, size_t bytes, struct kvspace_entry *entry) {
    size_t front = step == KVSPACE_STEP_MEMBER ? 2 : 1;
    memcpy(cursor->text, step == KVSPACE_STEP_MEMBER ? PATH_DOT : "/", front);
    memcpy(cursor->text + front, name, bytes);
    cursor->text[front + bytes] = 0;
    entry->text = cursor->text;
    entry->name = cursor->text + front;
    entry->text_bytes = (uint32_t)(front + bytes);
    entry->name_bytes = (uint32_t)bytes;
    entry->step = step;
}

static bool wanted(enum kvspace_list what, enum kvspace_step step) {
    switch (what) {
    case KVSPACE_LIST_CHILDREN: return step == KVSPACE_STEP_CHILD;
    case KVSPACE_LIST_MEMBERS: return step == KVSPACE_STEP_MEMBER;
    case KVSPACE_LIST_SYSTEM: return step == KVSPACE_STEP_SYSTEM;
    default: return true;
    }
}

static bool is_shadow(const char *name, size_t bytes) { return bytes >= 3 && memcmp(name, PATH_SHADOW, 3) == 0; }

/* ---- live ---- */

/* Finds the cursor's place in the table as it is now. */
static void settle_in(struct kvspace_cursor *cursor, uint32_t table) {
    kvspace *space = cursor->space;
    struct table *at = table ? table_at(&space->arena, table) : NULL;
    uint32_t rebuilt = at ? at->rebuilt : 0;
    bool same = table == cursor->table && rebuilt == cursor->rebuilt;
    if (same && cursor->beside && cursor->position) {
        uint32_t before = cursor->position - 1, node = table_next(space, table, &before);
        same = before != cursor->position - 1 || node == cursor->beside; /* deleted in place, or still there */
    }
    if (!same) cursor->position = cursor->any_seen ? table_seek(space, table, cursor->last_order) : 0;
    cursor->table = table;
    cursor->rebuilt = rebuilt;
}

/* Shows a node if it is visible and of the wanted sort. */
static bool show_node(struct kvspace_cursor *cursor, const struct node *node, struct kvspace_entry *entry) {
    kvspace *space = cursor->space;
    const struct step *name = step_at(&space->arena, atomic_load_explicit(&node->step, memory_order_acquire));
    struct cell_value cell;
    if (!name || name->bytes > KVSPACE_STEP_MAX || !node_is_live(node)) return false;
    enum kvspace_step step = cursor->members ? KVSPACE_STEP_MEMBER
                             : is_shadow(name->text, name->bytes) ? KVSPACE_STEP_SYSTEM : KVSPACE_STEP_CHILD;
    if (!wanted(cursor->what, step)) return false;
    node_get(node, &cell);
    unsigned tag = cell_value_tag(cell);
    fill_entry(cursor, step, name->text, name->bytes, entry);
    entry->has_value = tag != NODE_TAG_NONE && tag != NODE_TAG_HIDDEN;
    entry->has_children = table_live(space, atomic_load_explicit(&node->kids, memory_order_acquire)) || tag == NODE_TAG_PROVIDER;
    entry->has_members = table_live(space, atomic_load_explicit(&node->members, memory_order_acquire)) || tag == NODE_TAG_OVERLAY;
    return entry->has_value || entry->has_children || entry->has_members;
}

static int next_live(struct kvspace_cursor *cursor, struct kvspace_entry *entry) {
    kvspace *space = cursor->space;
    struct node *owner = node_at(&space->arena, cursor->node);
    for (;;) {
        if (!owner || node_birth(node_ver(owner)) != cursor->birth) return KVSPACE_EEND;
        uint32_t table = atomic_load_explicit(cursor->members ? &owner->members : &owner->kids, memory_order_acquire);
        settle_in(cursor, table);
        uint32_t ref = table_next(space, table, &cursor->position);
        if (!ref) {
            if (cursor->members || !wanted(cursor->what, KVSPACE_STEP_MEMBER)) return KVSPACE_EEND;
            cursor->members = true;
            cursor->table = cursor->position = cursor->beside = 0;
            cursor->any_seen = false;
            continue;
        }
        cursor->position++;
        struct node *node = node_at(&space->arena, ref);
        if (!node) return KVSPACE_EDAMAGED;
        cursor->beside = ref; /* also one that is not live: somebody may be at work on it for long, or have died */
        uint32_t order = atomic_load_explicit(&node->order, memory_order_acquire);
        if (!node_is_live(node)) {
            uint32_t again = cursor->position - 1, now = table_next(space, table, &again);
            if (now != ref && again + 1 == cursor->position) cursor->position--; /* a move has put another in its place */
            continue;
        }
        cursor->any_seen = true;
        cursor->last_order = order;
        if (show_node(cursor, node, entry)) return 0;
    }
}

/* ---- collected ---- */

/* One collected entry: {flags, length, text}. */
static bool next_collected(struct kvspace_cursor *cursor, struct kvspace_entry *entry) {
    while (cursor->collected_at < cursor->collected.used) {
        const char *at = cursor->collected.bytes + cursor->collected_at;
        uint16_t bytes;
        memcpy(&bytes, at + 1, 2);
        cursor->collected_at += (size_t)bytes + 4;
        const char *text = at + 3;
        bool member = text[0] != '/';
        size_t front = member ? 2 : 1;
        enum kvspace_step step = member ? KVSPACE_STEP_MEMBER : is_shadow(text + 1, bytes - front) ? KVSPACE_STEP_SYSTEM : KVSPACE_STEP_CHILD;
        if (!wanted(cursor->what, step)) continue;
        fill_entry(cursor, step, text + front, bytes - front, entry);
        entry->has_value = at[0] & 1;
        entry->has_children = (at[0] & 2) != 0;
        entry->has_members = (at[0] & 4) != 0;
        return true;
    }
    return false;
}

static int add(struct kvspace_provider_listing *listing, const struct kvspace_entry *entry) {
    return kvspace_provider_entry(listing, entry->text, entry->has_value, entry->has_children, entry->has_members);
}

static int collect(kvspace *space, const char *key, unsigned overlays, struct kvspace_provider_listing *out);

/* Whether the base has that entry. */
static bool shows(kvspace *space, const char *key, const char *text, uint32_t text_bytes) {
    char below[KVSPACE_KEY_MAX + 1];
    return !path_append(key, text, text_bytes, below) && !api_exists(space, below, 1);
}

/* The stored entries of a node, all sorts, but those that the base (may be NULL) has: they have been listed. Of an overlay's own key
 * the base has members alone. */
static int collect_stored(kvspace *space, uint32_t node, const char *base, bool members_only, struct kvspace_provider_listing *out) {
    struct kvspace_cursor cursor = {.space = space, .what = KVSPACE_LIST_ALL, .node = node};
    struct kvspace_entry entry;
    struct node *owner = node_at(&space->arena, node);
    if (!owner) return KVSPACE_EDAMAGED;
    cursor.birth = node_birth(node_ver(owner));
    int rc;
    while (!(rc = next_live(&cursor, &entry))) {
        bool both = base && !(members_only && entry.step != KVSPACE_STEP_MEMBER);
        if (!(both && shows(space, base, entry.text, entry.text_bytes)) && (rc = add(out, &entry))) return rc;
    }
    return rc == KVSPACE_EEND ? 0 : rc;
}

/* What is stored above an entry of the base: gives false if that hides it, else adds what it has. */
static bool overlay_entry(kvspace *space, const char *key, struct kvspace_entry *entry) {
    char below[KVSPACE_KEY_MAX + 1];
    struct tree_walk walk;
    struct cell_value cell;
    if (path_append(key, entry->text, entry->text_bytes, below) || tree_walk(space, below, &walk)) return false;
    if (*walk.at) return !walk.hides_base;
    const struct node *node = tree_node(space, walk.node);
    node_get(node, &cell);
    bool kids = table_live(space, atomic_load_explicit(&node->kids, memory_order_acquire));
    bool members = table_live(space, atomic_load_explicit(&node->members, memory_order_acquire));
    unsigned tag = cell_value_tag(cell);
    bool value = tag != NODE_TAG_NONE && tag != NODE_TAG_HIDDEN;
    if (walk.hides_base) entry->has_value = entry->has_children = entry->has_members = 0;
    entry->has_value |= value;
    entry->has_children |= kids;
    entry->has_members |= members;
    return entry->has_value || entry->has_children || entry->has_members;
}

/* The base's entries in their order, without those that are hidden; then what was added above. */
static int collect_overlay(kvspace *space, const char *key, const struct tree_walk *walk, unsigned overlays,
                           struct kvspace_provider_listing *out) {
    char base[KVSPACE_KEY_MAX + 1];
    struct kvspace_cursor below = {.space = space, .what = walk->special_at[0] ? KVSPACE_LIST_ALL : KVSPACE_LIST_MEMBERS};
    struct kvspace_entry entry;
    int rc = overlays < OVERLAY_DEPTH_MAX ? overlay_base_key(space, walk, base) : KVSPACE_ELIMIT;
    if (rc == KVSPACE_ENOENT) return *walk->at ? rc : collect_stored(space, walk->node, NULL, false, out);
    if (rc) return rc;
    rc = collect(space, base, overlays + 1, &below.collected);
    if (rc == KVSPACE_ENOENT && !*walk->at) rc = 0;
    while (!rc && next_collected(&below, &entry))
        if (overlay_entry(space, key, &entry)) rc = add(out, &entry);
    free(below.collected.bytes);
    if (!rc && !*walk->at) rc = collect_stored(space, walk->node, base, !walk->special_at[0], out);
    return rc;
}

/* Whether something is stored there, so that a provider's entry of the same name is not shown a second time. */
static bool is_stored(kvspace *space, const char *key, const char *text, uint16_t text_bytes) {
    char below[KVSPACE_KEY_MAX + 1];
    struct tree_walk walk;
    return !path_append(key, text, text_bytes, below) && !tree_walk(space, below, &walk) && !*walk.at;
}

static int collect(kvspace *space, const char *key, unsigned overlays, struct kvspace_provider_listing *out) {
    struct tree_walk walk;
    int rc = tree_walk(space, key, &walk);
    if (rc) return rc;
    if (walk.special && walk.special_tag == NODE_TAG_OVERLAY) return collect_overlay(space, key, &walk, overlays, out);
    if (*walk.at && !walk.special) return KVSPACE_ENOENT;
    if (!*walk.at) rc = collect_stored(space, walk.node, NULL, false, out);
    if (rc || !walk.special || (!*walk.at && walk.node != walk.special)) return rc;
    struct kvspace_provider_listing provided = {0};
    rc = provider_list(space, key, &walk, &provided);
    for (size_t at = 0; !rc && at < provided.used;) {
        uint16_t bytes;
        const char *row = provided.bytes + at;
        memcpy(&bytes, row + 1, 2);
        if (!is_stored(space, key, row + 3, bytes))
            rc = kvspace_provider_entry(out, row + 3, row[0] & 1, (row[0] & 2) != 0, (row[0] & 4) != 0);
        at += (size_t)bytes + 4;
    }
    free(provided.bytes);
    if (rc == KVSPACE_ENOENT && (!*walk.at || !api_exists(space, key, 0))) rc = 0;
    return rc;
}

/* ---- public ---- */

/* Moves behind the entry `after`. */
static int skip_to(struct kvspace_cursor *cursor, const char *after) {
    struct kvspace_entry entry = {.text = ""};
    int rc;
    do rc = kvspace_list_next(cursor, &entry);
    while (!rc && strcmp(entry.text, after) != 0);
    return rc == KVSPACE_EEND ? KVSPACE_ENOENT : rc;
}

static int open_at(struct kvspace_cursor *cursor, const char *key) {
    kvspace *space = cursor->space;
    struct tree_walk walk;
    int rc = tree_walk(space, key, &walk);
    if (rc) return rc;
    if (walk.special && (*walk.at || walk.node == walk.special || walk.special_tag == NODE_TAG_OVERLAY)) {
        cursor->node = 0;
        return collect(space, key, 0, &cursor->collected);
    }
    if (*walk.at) return KVSPACE_ENOENT;
    if (walk.node != space->root && (rc = api_exists(space, key, 0))) return rc;
    cursor->node = walk.node;
    cursor->birth = node_birth(node_ver(node_at(&space->arena, walk.node)));
    cursor->members = cursor->what == KVSPACE_LIST_MEMBERS;
    return 0;
}

int kvspace_list_open(kvspace *space, const char *key, const struct kvspace_list_options *options, kvspace_cursor **out) {
    int rc = space_begin(space);
    if (rc) return space_error(space, rc, key, NULL);
    struct kvspace_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) rc = KVSPACE_ENOMEM;
    else {
        cursor->space = space;
        cursor->what = options ? options->what : KVSPACE_LIST_CHILDREN;
        rc = open_at(cursor, key);
    }
    space_end(space);
    if (!rc && options && options->after) rc = skip_to(cursor, options->after);
    if (rc) {
        kvspace_list_close(cursor);
        return rc == KVSPACE_EKEY || rc == KVSPACE_EPROVIDER ? rc : space_error(space, rc, key, NULL);
    }
    *out = cursor;
    return 0;
}

int kvspace_list_next(kvspace_cursor *cursor, struct kvspace_entry *entry) {
    kvspace *space = cursor->space;
    if (!cursor->node) return next_collected(cursor, entry) ? 0 : KVSPACE_EEND;
    int rc = party_enter(&space->arena); /* not space_begin: what was lent stays lent while one lists */
    if (rc) return space_error(space, rc, NULL, NULL);
    rc = next_live(cursor, entry);
    party_exit(&space->arena);
    return rc == 0 || rc == KVSPACE_EEND ? rc : space_error(space, rc, NULL, NULL);
}

void kvspace_list_close(kvspace_cursor *cursor) {
    if (!cursor) return;
    free(cursor->collected.bytes);
    free(cursor);
}

int kvspace_count(kvspace *space, const char *key, struct kvspace_counts *counts) {
    struct kvspace_list_options options = {.what = KVSPACE_LIST_ALL};
    struct kvspace_entry entry = {.text = ""};
    struct kvspace_value value;
    kvspace_cursor *cursor = NULL;
    int rc = kvspace_list_open(space, key, &options, &cursor);
    if (rc || !cursor) return rc;
    *counts = (struct kvspace_counts){0};
    while (!(rc = kvspace_list_next(cursor, &entry))) {
        if (entry.step == KVSPACE_STEP_CHILD) counts->children++;
        else if (entry.step == KVSPACE_STEP_MEMBER) counts->members++;
        else counts->system++;
    }
    kvspace_list_close(cursor);
    if (rc != KVSPACE_EEND) return rc;
    rc = kvspace_get(space, key, &value);
    counts->has_value = rc == 0;
    return rc == KVSPACE_ENOENT ? 0 : rc;
}
