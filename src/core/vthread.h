/* Vthreads: the records in the space (vthread, stack segments, frames, functions) and the process's view of one.
 * Relies on block.h for memory. Promises: `pc` is the truth. It is one word {frame, row, staged bit}, stored with release order
 * after everything that the step before it wrote, so whoever loads it with acquire order sees a whole state.
 *
 * Killed between two stores, a vthread is resumed like this: frames not reachable from pc do not exist; a row whose
 * commit is missing runs again; with the staged bit set, `stage` says what is left to do (enum stage_tag, or a result). */
#ifndef CORE_VTHREAD_H
#define CORE_VTHREAD_H

#include <stdatomic.h>
#include <stddef.h>

#include "core/block.h"
#include "core/mark.h"
#include "kvspace/space.h"

enum vthread_status { STATUS_INIT, STATUS_RUNNING, STATUS_WAIT, STATUS_PAUSED, STATUS_DONE, STATUS_ERROR, STATUS_COUNT };
extern const char *const vthread_status_names[STATUS_COUNT];

enum vthread_attention {
    ATTENTION_PAUSE = 1, /* stop at the next row, status paused */
    ATTENTION_KILL = 2,  /* end with an error */
    ATTENTION_STEP = 4,  /* one row at a time: the runner asked for a number of steps */
    ATTENTION_HOLD = 8,  /* somebody wants to look: stand still until he has */
    ATTENTION_BREAK = 16 /* the breakpoints have changed */
};

/* What `stage` holds while the counter's staged bit is set: a value is the row's result, and only its stores are done again (rows that
 * read what they write). These tags are no values: */
enum stage_tag {
    STAGE_LENGTH = 0xff, /* the length to which a value that was lengthened in place is cut back before the row runs again */
    STAGE_ONCE = 0xfe,   /* the row changes the tree in a way that must not happen twice: `once` tells whether it has */
    STAGE_MADE = 0xfd    /* the row makes a vthread: the payload is its number (0: `once` tells it, if it was drawn) */
};

/* A function and its version; one block for as long as a frame may name it. */
struct function_record {
    uint64_t version;
    uint32_t next;       /* list of the space's function records */
    uint32_t path_bytes;
    char path[];         /* ended by a zero byte */
};

/* 48 bytes, then the cells: read parameters, write parameters, other names. */
struct frame {
    uint32_t caller;     /* 0: the first */
    uint32_t caller_row; /* the row of the call */
    uint32_t function;   /* struct function_record */
    uint32_t link;       /* 1 + number of the decoded function in the process whose id is in the vthread; 0: not known */
    uint32_t segment;
    uint32_t units;      /* size in units of 16 bytes */
    uint32_t depth;
    uint32_t cells;
    uint64_t generation; /* never the same for two frames of a vthread: pointers carry it */
    uint64_t reserved;
};
enum { FRAME_UNITS = sizeof(struct frame) / 16 };

struct segment {
    uint32_t previous, next;
    uint32_t units, reserved;
};

/* pc: frame in the upper half, then the row, then the staged bit. */
#define PC_STAGED UINT64_C(1)
static inline uint64_t pc_make(uint32_t frame, uint32_t row) { return (uint64_t)frame << 32 | (uint64_t)row << 1; }
static inline uint32_t pc_frame(uint64_t pc) { return (uint32_t)(pc >> 32); }
static inline uint32_t pc_row(uint64_t pc) { return (uint32_t)pc >> 1; }

struct vthread_record {
    uint64_t magic;
    _Atomic uint64_t pc;
    struct cell stage;
    _Atomic uint32_t attention;
    _Atomic uint32_t status;      /* enum vthread_status */
    uint64_t id;
    uint64_t owner;               /* incarnation of the runtime whose links the frames carry */
    uint64_t generation;          /* last one given */
    uint32_t segment;             /* the first stack segment */
    uint32_t function;            /* entry: struct function_record, 0 if none */
    int64_t created_ns;
    uint64_t random[4];
    uint64_t steps;               /* rows executed by way of single steps and calls: only a measure of progress */
    struct cell error_kind, error_message, error_place, error_chain; /* texts */
    uint32_t error_row, depth_limit;
    struct once_mark once;
    _Atomic uint64_t lease;       /* who runs it (lease.c); 0: nobody */
    _Atomic uint64_t looker;      /* who wants it to stand still; 0: nobody */
    _Atomic uint32_t held;        /* it stands still for him */
    uint32_t reserved;
    int64_t wake_ns;              /* asleep until then, by the wall clock; 0: not */
    uint64_t waits_for;           /* the vthread whose end it waits for; 0: none */
    uint32_t code_seen;           /* code_changes when the frames' links were good last */
    uint32_t reserved2;
    struct cell breaks;           /* breakpoints: text, keys of rows (/lib/f/[3,0]) with blanks between */
    uint64_t token, token_pc;     /* last one that an extension's call drew (kvlang_call_token), and the pc of that call until it is committed */
    uint64_t stopped_at;          /* pc of the breakpoint at which it stopped last, and which it is to leave; 0: none */
};
_Static_assert(offsetof(struct vthread_record, once) % 16 == 0, "a mark is named in units of 16 bytes");
#define VTHREAD_MAGIC UINT64_C(0x3364726874766b01)

static inline struct frame *frame_at(const struct heap *heap, uint32_t ref) {
    return (struct frame *)(void *)(heap->base + ((uint64_t)ref << 4));
}
static inline struct cell *frame_cells(struct frame *frame) { return (struct cell *)(void *)(frame + 1); }

/* Written by the owner of the lease only. Release: the cells of a step are visible before the row that follows it. The fence keeps
 * the compiler from moving what belongs behind the commit (dropping what was replaced, the next row's stores) in front of it. */
static inline void pc_commit(struct vthread_record *record, uint64_t pc) {
    MARK();
    atomic_store_explicit(&record->pc, pc, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    MARK();
}
/* For whoever resumes or shows it; pairs with pc_commit. */
static inline uint64_t pc_seen(const struct vthread_record *record) {
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)&record->pc, memory_order_acquire);
}

#endif
