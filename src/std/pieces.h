/* What the families share: arguments as bytes, options by name, results put together from texts, bytes and members.
 * Relies on core's map.h, text.h, array.h, native.h. Promises: functions that can fail give 0 or an error_kind, with the message in the
 * heap's fault; on an error nothing is leaked and the result is untouched. */
#ifndef STD_PIECES_H
#define STD_PIECES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/map.h"
#include "core/native.h"
#include "kvspace/textout.h"

/* Bytes of an argument. `bytes` is ended by a zero byte where it is a text; `owned` is what piece_free frees. */
struct piece {
    const char *bytes;
    size_t length;
    char *owned;
};
static inline void piece_free(struct piece *piece) {
    free(piece->owned);
    piece->owned = NULL;
}

/* A text as UTF-8. TypeError when the argument is none. */
int piece_text(struct core_call *call, uint32_t i, struct piece *out);
/* The same for a text that the system takes: ValueError when there is a zero byte in it. */
int piece_plain(struct core_call *call, uint32_t i, struct piece *out);
/* A text as UTF-8, or the elements of an array of uint8 as they are. */
int piece_content(struct core_call *call, uint32_t i, struct piece *out);
/* The two first for any cell; `what` names it in messages. */
int piece_of_cell(struct core_call *call, const struct cell *cell, const char *what, bool plain, struct piece *out);

/* The value of an option in the map that argument i is, NULL where it or the argument is missing. */
const struct cell *option_find(struct core_call *call, uint32_t i, const char *name);
/* TypeError when argument i is there and no map; ValueError when it has a key that is not in `names`, which ends with NULL. */
int options_check(struct core_call *call, uint32_t i, const char *const *names);
int option_bool(struct core_call *call, uint32_t i, const char *name, bool *truth);
int option_int64(struct core_call *call, uint32_t i, const char *name, int64_t least, int64_t most, int64_t *number);
/* A duration, or a number of seconds, as milliseconds; must be above zero. */
int option_milliseconds(struct core_call *call, uint32_t i, const char *name, int64_t *milliseconds);

/* Texts and bytes as cells. The lossy one puts U+FFFD where bytes are no UTF-8. */
int text_of_bytes(struct heap *heap, const char *bytes, size_t length, struct cell *out);
int text_of_bytes_lossy(struct heap *heap, const char *bytes, size_t length, struct cell *out);
int array_of_bytes(struct heap *heap, const void *bytes, size_t length, struct cell *out);
/* The first result. */
int give_text(struct core_call *call, const char *bytes, size_t length);
int give_bytes(struct core_call *call, const void *bytes, size_t length);

/* Maps under construction. `type`: "[]char/utf8·any", "[int64]·[]char/utf32", … Members are taken over, also when it fails; the map is then
 * dropped and None. Pass the error so far as `rc`, so that a sequence of these needs one check. */
int members_begin(struct heap *heap, const char *type, struct cell *map);
int member_put(struct heap *heap, int rc, struct cell *map, const char *key, struct cell value);
int member_text(struct heap *heap, int rc, struct cell *map, const char *key, const char *bytes, size_t length);
int item_put(struct heap *heap, int rc, struct cell *map, int64_t index, struct cell value);
int item_text(struct heap *heap, int rc, struct cell *map, int64_t index, const char *bytes, size_t length);
/* Any key; both taken over. */
int entry_put(struct heap *heap, int rc, struct cell *map, struct cell key, struct cell value);

#endif
