/* env·get. Relies on pieces.h and the C library. Promise: the environment is never changed. */
#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/env.def"
#undef NATIVE

static int env_get(struct core_call *call) {
    struct piece name;
    int rc = piece_plain(call, 0, &name);
    if (rc) return rc;
    const char *value = getenv(name.bytes);
    piece_free(&name);
    if (value) return text_of_bytes_lossy(call->heap, value, strlen(value), &call->results[0]);
    if (call->arg_count > 1) call->results[0] = cell_copy(call->heap, call->args[1]);
    return 0;
}

const struct native_row env_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/env.def"
#undef NATIVE
};
const uint32_t env_count = sizeof env_rows / sizeof *env_rows;
