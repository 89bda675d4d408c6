/* Linking: rows of a function in the tree, decoded once per process and version into instructions and row records.
 * Relies on kvspace.h for the rows (docs/rows.md), on native_find for natives, on the runtime's capability tables.
 * Promises: code[r] is row r, and code[rows + 1] ends the function, so a counter in the tree is always a row number.
 * Decoded functions are kept until the runtime is closed: frames of old versions go on with theirs. */
#ifndef CORE_LINK_H
#define CORE_LINK_H

#include "core/call.h"
#include "core/runtime.h"
#include "core/types.h"
#include "core/vthread.h"

enum opcode {
#define OPCODE(name, text, meaning) OP_##name,
#include "core/opcodes.def"
    OP_COUNT
};
enum structural {
    STRUCTURAL_NONE = 0,
#define STRUCTURAL(name, text) STRUCTURAL_##name,
#include "core/opcodes.def"
    STRUCTURAL_COUNT
};

/* 32 bytes. a, b, c: byte offsets of cells from the first cell of the frame, or rows (branches). */
struct instr {
    const void *label; /* of the dispatch loop; set when the function is first entered */
    uint16_t op;
    uint16_t flags;
    uint32_t a, b, c;
    union {
        int64_t k;
        double f;
        uint64_t u;
        struct { uint32_t yes, no; } to;
        struct call_site *site;
        struct native_site *native;
        const struct row *row; /* MEMBER, SETMEMBER: operand 0 or 1 may be constant */
    };
};
enum { INSTR_ALIAS = 1, /* the target is an operand: stage */ INSTR_NO_TEMP = 2 /* fused: the bool is read by nobody else */ };

enum operand_kind { OPERAND_CELL, OPERAND_CONSTANT, OPERAND_PATH, OPERAND_DISCARD };
struct operand {
    uint8_t kind;
    bool literal;
    uint32_t cell;          /* CELL: its number */
    struct cell constant;   /* CONSTANT: held by the link; PATH: none */
    const char *path;       /* PATH */
    struct kvspace_slot *slot; /* PATH: opened lazily */
};

struct row {
    uint16_t structural;
    uint16_t read_count, write_count;
    bool self;              /* writes something that it reads: stage */
    uint8_t self_write;     /* which write slot that is, the first one */
    bool reuse;             /* the native may change argument 0 in place */
    uint32_t number;
    uint64_t literals;
    struct operand *reads, *writes;
    const struct native_row *native;
    void *host;             /* of the native's table */
    const char *name;       /* the opcode, for messages */
    struct call_site *site; /* call, tailcall */
    const struct type_info *type; /* newarray, fillarray, newmap, check */
};

/* A native with its operands where they are: constants by pointer, cells by offset. */
enum { NATIVE_SITE_MAX = 4 };
struct native_site {
    core_native *run;
    const struct row *row;
    uint32_t count;
    uint32_t offset[NATIVE_SITE_MAX];
    const struct cell *constant[NATIVE_SITE_MAX]; /* NULL: a cell */
};

struct link_parameter {
    const char *name;
    const struct type_info *type;
    uint8_t tag;            /* the one tag that needs no check, 0: always the slow way */
    uint8_t vector;         /* the same for an array or string of one axis of any length */
    uint32_t container;     /* the id of its type if that is one map or one struct, else 0 */
    bool any;               /* takes everything but None */
    bool pointer;
};

/* A call, bound to its function on first execution. */
struct call_site {
    const char *path;
    struct link *callee;    /* NULL: not bound */
    uint32_t epoch;         /* code_changes when it was bound */
    struct row *row;
    bool simple;            /* no path among arguments and results */
    bool fast;              /* bound: simple, as many arguments as parameters, not variadic */
};

struct link {
    char *path;             /* /lib/pkg·f */
    const char *name;       /* pkg·f */
    uint64_t version;
    uint32_t function;      /* struct function_record in the space */
    uint32_t number;        /* in runtime->links */
    uint32_t reads, writes, cells, rows;
    bool variadic, labelled, stale;
    uint64_t fingerprint;   /* of its slots' versions */
    uint32_t seen;          /* code_changes when it was read, or compared, last */
    struct link_parameter *parameters; /* reads, then writes */
    const char **names;     /* of the cells */
    struct instr *code;
    struct row **row;       /* [1 … rows] */
    int32_t *map;           /* line, column for rows 0 … rows; NULL */
    const char *file;
    struct link *same;      /* next in the hash chain */
    void *memory;           /* arena of everything above */
};

/* The decoded function of that path, newest version; ERROR_NAME when there is none, ERROR_RUNTIME when its rows are damaged (message in the fault). */
int link_function(struct core *core, const char *path, struct link **out);
/* The decoded version that a frame carries, also an old one under /lib/‥old. */
int link_of_record(struct core *core, uint32_t function, struct link **out);
/* Fields and defaults of a struct, from /lib. For heap->struct_find. */
const struct struct_def *link_struct(struct heap *heap, uint32_t type);
/* Whether the rows in the tree are still those that were decoded; false: `stale` is set, and it is to be linked anew. Costs one load
 * while nothing below /lib has changed. A version that is not in the tree any more stays as it is. */
bool link_is_fresh(struct core *core, struct link *link);
/* Counts up with each change below /lib, by anybody. */
static inline uint32_t code_changes(const struct core *core) {
    return atomic_load_explicit(core->code_word, memory_order_acquire);
}
void links_close(struct core *core);

#endif
