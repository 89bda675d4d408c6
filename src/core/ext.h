/* Tables of extensions (kvlang/ext.h) as tables of natives: rows that check arguments and results against the signature
 * and call the extension. Relies on call.h and types.h. Promises: what an extension gives is of the type that it declared. */
#ifndef CORE_EXT_H
#define CORE_EXT_H

#include <kvlang/ext.h>

#include "core/call.h"

struct ext_table {
    struct native_row *rows;
    struct ext_row *details; /* of the rows, by the same index */
    uint32_t count;
    void *host;
    struct ext_table *next;
};

/* ERROR_TYPE when a signature does not parse. The caps must outlive the table. */
int ext_table_new(struct heap *heap, const kvlang_cap *caps, size_t count, void *host, struct ext_table **out);
/* Frees a list of tables; NULL is allowed. */
void ext_tables_free(struct ext_table *table);

#endif
