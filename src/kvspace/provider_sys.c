/* /sys: what the space says about itself, computed when it is read. Keys:
 *
 *     /sys/space/{format,generation,limit,file,used,free,epoch,clean}     /sys/participant/<slot>/{label,pid,since,self}
 *
 * Read-only, but that runtimes store what they announce below /sys/runtime/<id> (stored keys come before computed ones).
 * Relies on provider.h and alloc.h. Promises: every number is from the time of the call; the dead are not shown. */
#include "kvspace/cell.h"
#include "kvspace/kinds.h"
#include "kvspace/provider.h"
#include "kvspace/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum figure_kind { FIGURE_UINT, FIGURE_BOOL };

/* One table: names, kinds and where each figure is in struct kvspace_stats. */
static const struct {
    const char *name;
    size_t at;
    enum figure_kind kind;
} figures[] = {
    {"format", offsetof(struct kvspace_stats, format_version), FIGURE_UINT},
    {"generation", offsetof(struct kvspace_stats, generation), FIGURE_UINT},
    {"limit", offsetof(struct kvspace_stats, limit_bytes), FIGURE_UINT},
    {"file", offsetof(struct kvspace_stats, file_bytes), FIGURE_UINT},
    {"used", offsetof(struct kvspace_stats, used_bytes), FIGURE_UINT},
    {"free", offsetof(struct kvspace_stats, free_bytes), FIGURE_UINT},
    {"participants", offsetof(struct kvspace_stats, participants), FIGURE_UINT},
    {"epoch", offsetof(struct kvspace_stats, epoch), FIGURE_UINT},
    {"clean", offsetof(struct kvspace_stats, was_clean), FIGURE_BOOL},
};

static bool is_here(const kvspace *space, uint32_t slot) {
    return slot < header_slots(mem_header(space)) &&
           atomic_load_explicit(&mem_header(space)->slot_state[slot], memory_order_acquire) == PARTY_ACTIVE &&
           (slot == space->arena.own_slot || party_alive(&space->arena, slot));
}

static int give_text(kvspace *space, const char *text, size_t bytes, struct kvspace_value *out) {
    char *copy = kvspace_provider_memory(space, bytes + 1);
    uint64_t *dims = kvspace_provider_memory(space, sizeof *dims);
    if (!copy || !dims) return KVSPACE_ENOMEM;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    dims[0] = bytes;
    *out = kvspace_value_utf8(copy, bytes);
    out->dims = dims;
    return 0;
}

static int get_figure(kvspace *space, const char *name, struct kvspace_value *out) {
    struct kvspace_stats stats;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (strcmp(figures[i].name, name) != 0) continue;
        int rc = kvspace_get_stats(space, &stats);
        if (rc) return rc;
        const char *at = (const char *)&stats + figures[i].at;
        if (figures[i].kind == FIGURE_BOOL) *out = kvspace_value_bool(*at);
        else {
            *out = kvspace_value_scalar(KVSPACE_UINT64, NULL);
            memcpy(&out->scalar.u64, at, 8);
        }
        return 0;
    }
    return KVSPACE_ENOENT;
}

static int get_participant(kvspace *space, const char *text, struct kvspace_value *out) {
    char *end;
    unsigned long slot = strtoul(text, &end, 10);
    if (end == text || *end != '/' || slot >= PARTY_MAX || !is_here(space, (uint32_t)slot)) return KVSPACE_ENOENT;
    const struct party_slot *party = arena_slot(&space->arena, (uint32_t)slot);
    if (strcmp(end, "/label") == 0) {
        char label[sizeof party->label + 1];
        memcpy(label, party->label, sizeof party->label);
        label[sizeof party->label] = 0;
        return give_text(space, label, strlen(label), out);
    }
    if (strcmp(end, "/pid") == 0) {
        *out = kvspace_value_scalar(KVSPACE_UINT32, NULL);
        out->scalar.u64 = atomic_load_explicit(&party->pid, memory_order_relaxed);
    } else if (strcmp(end, "/since") == 0) {
        *out = kvspace_value_scalar(KVSPACE_TIME, NULL);
        out->scalar.u64 = atomic_load_explicit(&party->joined_ns, memory_order_relaxed);
    } else if (strcmp(end, "/self") == 0) *out = kvspace_value_bool(slot == space->arena.own_slot);
    else return KVSPACE_ENOENT;
    return 0;
}

static int sys_get(const struct kvspace_provider_call *call, struct kvspace_value *out) {
    if (strncmp(call->rest, "/space/", 7) == 0) return get_figure(call->space, call->rest + 7, out);
    if (strncmp(call->rest, "/participant/", 13) == 0) return get_participant(call->space, call->rest + 13, out);
    return KVSPACE_ENOENT;
}

static int list_participants(kvspace *space, struct kvspace_provider_listing *listing) {
    char text[32];
    for (uint32_t slot = 0; slot < PARTY_MAX; slot++) {
        if (!is_here(space, slot)) continue;
        snprintf(text, sizeof text, "/%u", slot);
        kvspace_provider_entry(listing, text, 0, 1, 0);
    }
    return 0;
}

static int sys_list(const struct kvspace_provider_call *call, struct kvspace_provider_listing *listing) {
    static const char *const party[] = {"/label", "/pid", "/since", "/self"};
    char text[64];
    if (!*call->rest) {
        kvspace_provider_entry(listing, "/space", 0, 1, 0);
        return kvspace_provider_entry(listing, "/participant", 0, 1, 0);
    }
    if (strcmp(call->rest, "/space") == 0) {
        for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
            snprintf(text, sizeof text, "/%s", figures[i].name);
            kvspace_provider_entry(listing, text, 1, 0, 0);
        }
        return 0;
    }
    if (strcmp(call->rest, "/participant") == 0) return list_participants(call->space, listing);
    if (strncmp(call->rest, "/participant/", 13) == 0) {
        char *end;
        unsigned long slot = strtoul(call->rest + 13, &end, 10);
        if (end == call->rest + 13 || *end || slot >= PARTY_MAX || !is_here(call->space, (uint32_t)slot)) return KVSPACE_ENOENT;
        for (size_t i = 0; i < sizeof party / sizeof party[0]; i++) kvspace_provider_entry(listing, party[i], 1, 0, 0);
        return 0;
    }
    return KVSPACE_ENOENT;
}

/* Announcements of runtimes are stored; everything else is computed. */
static int sys_set(const struct kvspace_provider_call *call, const struct kvspace_value *value) {
    char key[KVSPACE_KEY_MAX + 1];
    const char *why;
    struct shape shape;
    struct tree_value made;
    if (strncmp(call->rest, "/runtime/", 9) != 0) return KVSPACE_EREADONLY;
    int bytes = snprintf(key, sizeof key, "%s%s", call->key, call->rest);
    if (bytes < 0 || (size_t)bytes >= sizeof key) return KVSPACE_EKEY;
    int rc = shape_of(value, false, &shape, &why);
    if (rc || shape.is_none) return rc;
    rc = cell_make(call->space, &shape, &made);
    if (rc) return rc;
    rc = tree_set(call->space, key, &made);
    if (rc) cell_discard(call->space, &made);
    return rc;
}

static const struct kvspace_provider sys = {.name = "sys", .get = sys_get, .set = sys_set, .list = sys_list};

int provider_sys_register(kvspace *space) { return kvspace_provider_register(space, &sys); }

int provider_sys_found(kvspace *space) {
    struct kvspace_value value = kvspace_value_word("provider/sys", "", 0);
    struct tree_value made;
    struct shape shape;
    const char *why;
    value.ro = 1;
    int rc = shape_of(&value, false, &shape, &why);
    if (!rc) rc = cell_make(space, &shape, &made);
    if (!rc) rc = tree_set(space, "/sys", &made);
    return rc;
}
