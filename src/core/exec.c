/* The dispatch loop: decoded instructions of link_code.c by computed goto. Everything that is not hot goes to row.c.
 * Relies on exec.h for the order of stores. Promises: at every moment the counter in the record and the cells are a state from which
 * exec_resume goes on exactly; a row that branches or writes commits once, at its end; a goto does not commit (it reads nothing).
 *
 * pc = frame << 32 | row << 1 | staged. Instructions are 32 bytes, so row << 1 is the distance from code[0] in 16-byte units: the counter
 * is one shift and one addition away from the instruction pointer (pc_base). */
#include "core/exec.h"

#include "core/arith.h"
#include "core/array.h"
#include "core/lease.h"
#include "core/map.h"
#include "core/text.h"

/* Labels as values are an extension of GCC and Clang that this file is built on. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wgnu-label-as-value"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpedantic"
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

_Static_assert(sizeof(struct instr) == 32, "pc_base counts on it");

/* Puts a value of another form, commits, drops what was there. Off the fast path. */
__attribute__((noinline)) static void put_slow(struct core *core, struct vthread_record *record, struct cell *place,
                                               struct cell value, uint64_t pc) {
    struct cell old = cell_put(place, value);
    pc_commit(record, pc);
    cell_drop(&core->heap, old);
}

static void labels_set(struct core *core, struct link *link, const void *const *labels) {
    for (uint32_t row = 0; row <= link->rows + 1; row++) link->code[row].label = labels[link->code[row].op];
    if (core->break_count) breaks_label(core, link, labels[OP_COUNT]);
    link->labelled = true;
}

/* What to do about the attention word. RUN_ or 0 to go on, RUN_ERROR with the fault set. What is obeyed by stopping is taken back by
 * vthread_stretch, behind the new status: a death in between loses no request. */
static int attend(struct core *core, struct vthread_record *record) {
    uint32_t asked = atomic_load_explicit(&record->attention, memory_order_acquire);
    if (asked & ATTENTION_HOLD) {
        look_wait(core, record);
        asked = atomic_load_explicit(&record->attention, memory_order_acquire);
    }
    if (asked & ATTENTION_BREAK) {
        atomic_fetch_and_explicit(&record->attention, ~(uint32_t)ATTENTION_BREAK, memory_order_acq_rel);
        breaks_load(core, record);
    }
    if (asked & ATTENTION_KILL) {
        fault_set(&core->heap, ERROR_RUNTIME, "killed");
        return RUN_ERROR;
    }
    return asked & ATTENTION_PAUSE ? RUN_PAUSED : 0;
}

/* The result of a scalar read from an array; false where the kind is not for scalars. */
static inline struct cell element_load(unsigned kind, const void *body, uint64_t at) {
    if (LIKELY(kind == KIND_INT64 || kind == KIND_FLOAT64)) return cell_scalar(kind, ((const uint64_t *)body)[at]);
    return cell_scalar(kind, scalar_load(kind, (const unsigned char *)body + at * kind_size(kind)));
}

/* The element of an array of one axis at an index that may count from the end. False: the general path must do it. */
static inline bool element_get(struct heap *heap, const struct cell *base, int64_t i, struct cell *out) {
    if (UNLIKELY(!(base->head & CELL_BLOCK))) return false;
    const struct block *block = cell_block(heap, base);
    uint64_t length = block->dims[0];
    if (UNLIKELY(i < 0)) i += (int64_t)length;
    unsigned kind = cell_kind(base);
    if (UNLIKELY(block->ndim != 1 || (uint64_t)i >= length || kind > KIND_CHAR_UTF32)) return false;
    *out = kind == KIND_CHAR_UTF32 ? text_of_point(((const uint32_t *)block_body(block))[i]) : element_load(kind, block_body(block), (uint64_t)i);
    return true;
}

/* The same for writing a scalar of the array's own kind, where nobody else holds the array. */
static inline bool element_put(struct heap *heap, const struct cell *base, uint64_t i, const struct cell *value) {
    unsigned kind = (unsigned)(value->head & 0xff);
    if (UNLIKELY((base->head & 0xff) != (TAG_ARRAY | kind) || !cell_is_scalar(value) || !cell_is_sole(heap, base))) return false;
    const struct block *block = cell_block(heap, base);
    if (UNLIKELY(block->ndim != 1 || i >= block->dims[0])) return false;
    if (LIKELY(kind_size(kind) == 8)) ((uint64_t *)block_body(block))[i] = value->payload;
    else scalar_store(kind, (unsigned char *)block_body(block) + i * kind_size(kind), value->payload);
    return true;
}

#define CELL(offset) ((struct cell *)(void *)((unsigned char *)cells + (offset)))
#define TAG(cell) ((uint8_t)(cell)->head)
#define PC_OF(instruction) (pc_base + ((uint64_t)(uintptr_t)(instruction) >> 4))
#define DISPATCH() goto *ip->label
#define NEXT() do { ip++; DISPATCH(); } while (0)
#define COMMIT_NEXT() pc_commit(record, PC_OF(ip + 1))
#define ENTER() do { \
        frame = at.frame; cells = at.cells; code = at.link->code; \
        if (UNLIKELY(!at.link->labelled)) labels_set(core, at.link, labels); \
        pc_base = ((uint64_t)at.ref << 32) - ((uint64_t)(uintptr_t)code >> 4); \
        limit = segment_end(heap, frame->segment); \
    } while (0)
/* A branch: commits its target, because it has read something that later rows may change. */
#define JUMP(row) do { \
        const struct instr *to_ = code + (row); \
        pc_commit(record, PC_OF(to_)); \
        if (UNLIKELY(to_ <= ip && atomic_load_explicit(&record->attention, memory_order_relaxed))) { ip = to_; goto attention; } \
        ip = to_; \
        DISPATCH(); \
    } while (0)
/* The result of an instruction whose operands have the kind that it has: so has the target when it is one of them. */
#define RESULT(kind, bits) do { \
        struct cell *target_ = CELL(ip->c); \
        uint64_t bits_ = (bits); \
        if (ip->flags & INSTR_ALIAS) { \
            record->stage.head = (kind); \
            record->stage.payload = bits_; \
            pc_commit(record, PC_OF(ip) | PC_STAGED); \
            store_order(); \
            target_->payload = bits_; \
            COMMIT_NEXT(); \
        } else if (LIKELY(TAG(target_) == (kind))) { \
            target_->payload = bits_; \
            COMMIT_NEXT(); \
        } else if (LIKELY(!TAG(target_))) { /* a name that is written for the first time */ \
            *(volatile uint64_t *)&target_->payload = bits_; \
            *(volatile uint64_t *)&target_->head = (kind); \
            COMMIT_NEXT(); \
        } else { \
            put_slow(core, record, target_, cell_scalar(kind, bits_), PC_OF(ip + 1)); \
        } \
        NEXT(); \
    } while (0)
/* A result of any form, owned. Never for an alias. */
#define RESULT_CELL(value) do { \
        struct cell value_ = (value); \
        struct cell *target_ = CELL(ip->c); \
        if (LIKELY((target_->head & CELL_VALUE_BITS) == value_.head && !(value_.head & CELL_BLOCK))) { \
            target_->payload = value_.payload; \
            COMMIT_NEXT(); \
        } else if (!TAG(target_)) { \
            *(volatile uint64_t *)&target_->payload = value_.payload; \
            *(volatile uint64_t *)&target_->head = value_.head & CELL_VALUE_BITS; \
            COMMIT_NEXT(); \
        } else { \
            put_slow(core, record, target_, value_, PC_OF(ip + 1)); \
        } \
        NEXT(); \
    } while (0)

static inline double as_float(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
static inline uint64_t float_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

#define BOTH(left, right, kind) (TAG(left) == (kind) && TAG(right) == (kind))
#define ARITH(NAME, operator) \
    L_##NAME: { \
        const struct cell *left = CELL(ip->a), *right = CELL(ip->b); \
        if (LIKELY(BOTH(left, right, KIND_INT64))) RESULT(KIND_INT64, left->payload operator right->payload); \
        if (LIKELY(BOTH(left, right, KIND_FLOAT64))) \
            RESULT(KIND_FLOAT64, float_bits(as_float(left->payload) operator as_float(right->payload))); \
        goto slow; \
    } \
    L_##NAME##_K: { \
        const struct cell *left = CELL(ip->a); \
        if (LIKELY(TAG(left) == KIND_INT64)) RESULT(KIND_INT64, left->payload operator (uint64_t)ip->k); \
        goto slow; \
    } \
    L_##NAME##_FK: { \
        const struct cell *left = CELL(ip->a); \
        if (LIKELY(TAG(left) == KIND_FLOAT64)) RESULT(KIND_FLOAT64, float_bits(as_float(left->payload) operator ip->f)); \
        goto slow; \
    }
#define BITS(NAME, operator) \
    L_##NAME: { \
        const struct cell *left = CELL(ip->a), *right = CELL(ip->b); \
        if (LIKELY(BOTH(left, right, KIND_INT64))) RESULT(KIND_INT64, left->payload operator right->payload); \
        goto slow; \
    } \
    L_##NAME##_K: { \
        const struct cell *left = CELL(ip->a); \
        if (LIKELY(TAG(left) == KIND_INT64)) RESULT(KIND_INT64, left->payload operator (uint64_t)ip->k); \
        goto slow; \
    }
#define COMPARE(NAME, operator) \
    L_##NAME: { \
        const struct cell *left = CELL(ip->a), *right = CELL(ip->b); \
        if (UNLIKELY(ip->flags & INSTR_ALIAS)) goto slow; \
        if (LIKELY(BOTH(left, right, KIND_INT64))) RESULT(KIND_BOOL, (int64_t)left->payload operator (int64_t)right->payload); \
        if (LIKELY(BOTH(left, right, KIND_FLOAT64))) RESULT(KIND_BOOL, as_float(left->payload) operator as_float(right->payload)); \
        goto slow; \
    } \
    L_##NAME##_K: { \
        const struct cell *left = CELL(ip->a); \
        if (LIKELY(TAG(left) == KIND_INT64 && !(ip->flags & INSTR_ALIAS))) RESULT(KIND_BOOL, (int64_t)left->payload operator ip->k); \
        goto slow; \
    } \
    L_J##NAME: { \
        const struct cell *left = CELL(ip->a), *right = CELL(ip->b); \
        if (LIKELY(BOTH(left, right, KIND_INT64))) { \
            if ((int64_t)left->payload operator (int64_t)right->payload) JUMP(ip->to.yes); \
            JUMP(ip->to.no); \
        } \
        if (LIKELY(BOTH(left, right, KIND_FLOAT64))) { \
            if (as_float(left->payload) operator as_float(right->payload)) JUMP(ip->to.yes); \
            JUMP(ip->to.no); \
        } \
        goto slow; \
    } \
    L_J##NAME##_K: { \
        const struct cell *left = CELL(ip->a); \
        if (LIKELY(TAG(left) == KIND_INT64)) { \
            if ((int64_t)left->payload operator ip->k) JUMP(ip->b); \
            JUMP(ip->c); \
        } \
        goto slow; \
    }

/* ---- calls without paths, literals to convert, or variadic parameters: arguments that fit by one comparison ---- */

static inline const struct cell *argument(const struct operand *operand, const struct cell *cells) {
    return operand->kind == OPERAND_CELL ? &cells[operand->cell] : &operand->constant;
}

/* Builds the callee's frame behind the caller's. NULL: the general path must do it. */
__attribute__((always_inline)) static inline struct frame *call_fast(struct activation *at, const struct call_site *site, struct link *callee, uint32_t row,
                                      uint32_t limit, uint32_t *new_ref) {
    struct frame *caller = at->frame;
    uint32_t ref = at->ref + caller->units, units = FRAME_UNITS + callee->cells;
    if (UNLIKELY(!site->fast || ref + units > limit || caller->depth + 1 >= at->record->depth_limit)) return NULL;
    struct heap *heap = &at->core->heap;
    struct frame *frame = frame_at(heap, ref);
    struct cell *cells = frame_cells(frame);
    const struct operand *reads = site->row->reads + 1;
    uint32_t i = 0;
    for (; i < callee->reads; i++) {
        const struct cell *value = argument(&reads[i], at->cells);
        const struct link_parameter *parameter = &callee->parameters[i];
        if (LIKELY(TAG(value) == parameter->tag)) {
            cells[i].head = parameter->tag;
            cells[i].payload = value->payload;
        } else if (LIKELY(TAG(value) && (parameter->any || TAG(value) == parameter->vector) &&
                          (parameter->any || (value->head & CELL_INLINE) || cell_block(heap, value)->ndim == 1))) {
            cells[i] = cell_copy(heap, value);
        } else if ((TAG(value) == TAG_MAP || TAG(value) == TAG_STRUCT) && parameter->container && cell_block(heap, value)->type == parameter->container) {
            cells[i] = cell_copy(heap, value);
        } else {
            while (i-- > 0) cell_drop(heap, cells[i]);
            return NULL;
        }
    }
#pragma GCC unroll 4
    for (; i < callee->cells; i++) cells[i].head = 0;
    frame->caller = at->ref;
    frame->caller_row = row;
    frame->function = callee->function;
    frame->link = callee->number + 1;
    frame->segment = caller->segment;
    frame->units = units;
    frame->depth = caller->depth + 1;
    frame->cells = callee->cells;
    frame->generation = ++at->record->generation;
    *new_ref = ref;
    return frame;
}

/* Copies one result out and leaves. False: the general path must do it. */
__attribute__((always_inline)) static inline bool return_fast(struct activation *at, uint32_t *row) {
    struct frame *frame = at->frame;
    uint32_t caller_ref = frame->caller;
    if (UNLIKELY(!caller_ref)) return false;
    struct heap *heap = &at->core->heap;
    struct frame *caller = frame_at(heap, caller_ref);
    if (UNLIKELY(!caller->link)) return false;
    struct link *link = at->core->links[caller->link - 1];
    if (UNLIKELY(frame->caller_row > link->rows)) return false;
    const struct row *site = link->row[frame->caller_row];
    *row = frame->caller_row + 1;
    if (LIKELY(site->write_count == 1 && at->link->writes == 1 && site->writes[0].kind == OPERAND_CELL)) {
        struct cell *result = &at->cells[at->link->reads], *target = &frame_cells(caller)[site->writes[0].cell];
        if (LIKELY(!(result->head & CELL_BLOCK) && (target->head & CELL_VALUE_BITS) == (result->head & CELL_VALUE_BITS))) {
            target->payload = result->payload;
            pc_commit(at->record, pc_make(caller_ref, *row));
        } else {
            struct cell old = cell_put(target, cell_copy(heap, result));
            pc_commit(at->record, pc_make(caller_ref, *row));
            cell_drop(heap, old);
        }
    } else if (UNLIKELY(site->write_count)) {
        return false;
    } else {
        pc_commit(at->record, pc_make(caller_ref, *row));
    }
    uint64_t heads = 0;
    struct cell *end = at->cells + frame->cells;
#pragma GCC unroll 4
    for (struct cell *cell = at->cells; cell != end; cell++) heads |= cell->head;
    if (heads & CELL_BLOCK) {
        for (struct cell *cell = at->cells; cell != end; cell++) cell_drop(heap, *cell);
    }
    at->frame = caller;
    at->ref = caller_ref;
    at->link = link;
    at->cells = frame_cells(caller);
    return true;
}

int exec_run(struct core *core, struct vthread_record *record) {
    static const void *const labels[OP_COUNT + 1] = {
#define OPCODE(name, text, meaning) &&L_##name,
#include "core/opcodes.def"
        &&stop
    };
    struct heap *heap = &core->heap;
    struct activation at = { .core = core, .record = record };
    struct frame *frame;
    struct cell *cells;
    const struct instr *code, *ip;
    uint64_t pc_base, pc = pc_seen(record);
    uint32_t limit, row, next = 0;
    int rc = activation_enter(&at, pc_frame(pc));
    if (rc) {
        error_record(core, record, NULL, 0);
        return RUN_ERROR;
    }
    ENTER();
    if (pc_row(pc) > at.link->rows + 1) {
        fault_set(heap, ERROR_RUNTIME, "the counter stands at row %u, and %s has %u", pc_row(pc), at.link->name, at.link->rows);
        error_record(core, record, at.link, 0);
        return RUN_ERROR;
    }
    ip = code + pc_row(pc);
    if (atomic_load_explicit(&record->attention, memory_order_relaxed)) goto attention;
    DISPATCH();

    ARITH(ADD, +)
    ARITH(SUB, -)
    ARITH(MUL, *)
    BITS(BITAND, &)
    BITS(BITOR, |)
    BITS(BITXOR, ^)
    COMPARE(EQ, ==)
    COMPARE(NEQ, !=)
    COMPARE(LT, <)
    COMPARE(GT, >)
    COMPARE(LE, <=)
    COMPARE(GE, >=)

L_RSUB_K: {
    const struct cell *left = CELL(ip->a);
    if (LIKELY(TAG(left) == KIND_INT64)) RESULT(KIND_INT64, (uint64_t)ip->k - left->payload);
    goto slow;
}
L_DIV: {
    const struct cell *left = CELL(ip->a), *right = CELL(ip->b);
    if (LIKELY(BOTH(left, right, KIND_INT64) && right->payload + 1 > 1)) /* neither 0 nor -1 */
        RESULT(KIND_INT64, (uint64_t)((int64_t)left->payload / (int64_t)right->payload));
    if (BOTH(left, right, KIND_FLOAT64) && as_float(right->payload) != 0)
        RESULT(KIND_FLOAT64, float_bits(as_float(left->payload) / as_float(right->payload)));
    goto slow;
}
L_DIV_K: {
    const struct cell *left = CELL(ip->a);
    if (LIKELY(TAG(left) == KIND_INT64)) RESULT(KIND_INT64, (uint64_t)((int64_t)left->payload / ip->k));
    goto slow;
}
L_DIV_FK: {
    const struct cell *left = CELL(ip->a);
    if (LIKELY(TAG(left) == KIND_FLOAT64)) RESULT(KIND_FLOAT64, float_bits(as_float(left->payload) / ip->f));
    goto slow;
}
L_MOD: {
    const struct cell *left = CELL(ip->a), *right = CELL(ip->b);
    if (LIKELY(BOTH(left, right, KIND_INT64) && right->payload + 1 > 1))
        RESULT(KIND_INT64, (uint64_t)((int64_t)left->payload % (int64_t)right->payload));
    goto slow;
}
L_MOD_K: {
    const struct cell *left = CELL(ip->a);
    if (LIKELY(TAG(left) == KIND_INT64)) RESULT(KIND_INT64, (uint64_t)((int64_t)left->payload % ip->k));
    goto slow;
}
L_SHL_K: {
    const struct cell *left = CELL(ip->a);
    if (LIKELY(TAG(left) == KIND_INT64)) RESULT(KIND_INT64, left->payload << ip->k);
    goto slow;
}
L_SHR_K: {
    const struct cell *left = CELL(ip->a);
    if (LIKELY(TAG(left) == KIND_INT64)) RESULT(KIND_INT64, (uint64_t)((int64_t)left->payload >> ip->k));
    goto slow;
}
L_SET_K:
    RESULT_CELL(cell_scalar(ip->a, ip->u));
L_SET: {
    const struct cell *from = CELL(ip->a);
    RESULT_CELL(cell_copy(heap, from));
}
L_GOTO: {
    const struct instr *target = code + ip->a;
    if (UNLIKELY(target <= ip && atomic_load_explicit(&record->attention, memory_order_relaxed))) {
        pc_commit(record, PC_OF(target));
        ip = target;
        goto attention;
    }
    ip = target;
    DISPATCH();
}
L_BR: {
    const struct cell *condition = CELL(ip->a);
    if (UNLIKELY(TAG(condition) != KIND_BOOL)) goto slow;
    if (condition->payload) JUMP(ip->to.yes);
    JUMP(ip->to.no);
}
L_INDEX: {
    const struct cell *base = CELL(ip->a), *index = CELL(ip->b);
    if (LIKELY(TAG(base) >= TAG_ARRAY && TAG(index) == KIND_INT64)) {
        struct cell element;
        if (LIKELY(element_get(heap, base, (int64_t)index->payload, &element))) RESULT_CELL(element);
    } else if (TAG(base) == TAG_MAP) {
        const struct cell *found;
        if (LIKELY(map_find(heap, base, index, &found) == 0 && found && !cell_is_none(found))) RESULT_CELL(cell_copy(heap, found));
    }
    goto slow;
}
L_INDEX2: {
    const struct cell *base = CELL(ip->a), *first = CELL(ip->b), *second = CELL(ip->u);
    if (LIKELY(TAG(base) >= TAG_ARRAY && (base->head & CELL_BLOCK) && BOTH(first, second, KIND_INT64))) {
        const struct block *block = cell_block(heap, base);
        if (LIKELY(block->ndim == 2 && first->payload < block->dims[0] && second->payload < block->dims[1]))
            RESULT_CELL(element_load(cell_kind(base), block_body(block), first->payload * block->dims[1] + second->payload));
    }
    goto slow;
}
L_SETINDEX: {
    const struct cell *base = CELL(ip->a), *index = CELL(ip->b);
    if (LIKELY(TAG(index) == KIND_INT64 && element_put(heap, base, index->payload, CELL(ip->c)))) {
        COMMIT_NEXT();
        NEXT();
    }
    if (TAG(base) == TAG_MAP) goto L_SETMEMBER;
    goto slow;
}
L_SETMEMBER: {
    /* The value that a map has gets for a key is written in place: the row may be repeated. */
    struct cell *base = CELL(ip->a), changed;
    const struct operand *reads = ip->row->reads;
    const struct cell *value = argument(&reads[0], cells), *key = argument(&reads[1], cells);
    if (ip->row->structural == STRUCTURAL_SETINDEX && TAG(key) == KIND_INT64 && element_put(heap, base, key->payload, value)) {
        COMMIT_NEXT();
        NEXT();
    }
    if (UNLIKELY((TAG(base) != TAG_MAP && TAG(base) != TAG_STRUCT) || !cell_is_sole(heap, base) || TAG(value) == TAG_RANGE)) goto slow;
    pc_commit(record, PC_OF(ip));
    if (UNLIKELY(map_set(heap, base, key, value, (unsigned)ip->row->literals & 3, &changed))) goto slow;
    if (LIKELY(changed.payload == base->payload)) {
        COMMIT_NEXT();
    } else {
        put_slow(core, record, base, changed, PC_OF(ip + 1));
    }
    NEXT();
}
L_MEMBER: {
    const struct cell *base = CELL(ip->a);
    const struct operand *key = &ip->row->reads[1];
    if (LIKELY(TAG(base) == TAG_MAP || TAG(base) == TAG_STRUCT)) {
        const struct cell *found;
        if (LIKELY(map_find(heap, base, argument(key, cells), &found) == 0 && found && !cell_is_none(found))) RESULT_CELL(cell_copy(heap, found));
    } else if (TAG(base) >= TAG_ARRAY && key->kind == OPERAND_CONSTANT && TAG(&key->constant) == KIND_INT64 && ip->row->structural == STRUCTURAL_INDEX) {
        struct cell element;
        if (LIKELY(element_get(heap, base, (int64_t)key->constant.payload, &element))) RESULT_CELL(element);
    }
    goto slow;
}
L_HAS: {
    const struct cell *base = CELL(ip->a), *found;
    if (LIKELY(TAG(base) == TAG_MAP) && map_find(heap, base, argument(&ip->row->reads[1], cells), &found) == 0) RESULT_CELL(cell_bool(found != NULL));
    goto slow;
}
L_NEWMAP: {
    struct cell made;
    if (UNLIKELY(map_new(heap, ip->row->type, 0, &made))) goto slow;
    RESULT_CELL(made);
}
L_NATIVE: {
    const struct native_site *site = ip->native;
    const struct cell *args[NATIVE_SITE_MAX];
    for (uint32_t i = 0; i < site->count; i++) {
        args[i] = site->constant[i] ? site->constant[i] : CELL(site->offset[i]);
        if (UNLIKELY(TAG(args[i]) == TAG_RANGE)) goto slow;
    }
    struct cell result = cell_none();
    struct core_call call = { .heap = heap, .args = args, .results = &result, .arg_count = site->count, .result_count = 1,
                              .literals = site->row->literals, .services = &core->services, .row = site->row->native };
    rc = site->run(&call);
    if (UNLIKELY(rc)) {
        cell_drop(heap, result);
        if (rc == NATIVE_WAITS) goto slow;
        row = (uint32_t)(ip - code);
        pc_commit(record, PC_OF(ip));
        goto failed;
    }
    RESULT_CELL(result);
}
L_SETINDEX2: {
    const struct cell *base = CELL(ip->a), *first = CELL(ip->b), *second = CELL(ip->u), *value = CELL(ip->c);
    if (LIKELY(TAG(base) == (TAG_ARRAY | TAG(value)) && BOTH(first, second, KIND_INT64) && cell_is_scalar(value) && cell_is_sole(heap, base))) {
        const struct block *block = cell_block(heap, base);
        if (LIKELY(block->ndim == 2 && first->payload < block->dims[0] && second->payload < block->dims[1])) {
            unsigned kind = cell_kind(base);
            uint64_t place = first->payload * block->dims[1] + second->payload;
            scalar_store(kind, (unsigned char *)block_body(block) + place * kind_size(kind), value->payload);
            COMMIT_NEXT();
            NEXT();
        }
    }
    goto slow;
}
L_NEXT: {
    const struct cell *base = CELL(ip->a);
    struct cell *position = CELL(ip->b), *target = CELL(ip->c);
    if (LIKELY(TAG(base) == TAG_RANGE && TAG(position) == KIND_INT64)) {
        uint64_t i = position->payload;
        if (i >= range_count(heap, base)) JUMP(ip->to.no);
        struct cell old = *target;
        if (LIKELY(TAG(target) == KIND_INT64)) {
            target->payload = (uint64_t)range_at(heap, base, i);
            old = cell_none();
        } else {
            cell_put(target, cell_int64(range_at(heap, base, i)));
        }
        record->stage = cell_int64((int64_t)(i + 1));
        pc_commit(record, PC_OF(ip) | PC_STAGED);
        store_order();
        position->payload = i + 1;
        cell_drop(heap, old);
        JUMP(ip->to.yes);
    }
    if (LIKELY(TAG(base) >= TAG_ARRAY && (base->head & CELL_BLOCK) && TAG(position) == KIND_INT64)) {
        const struct block *block = cell_block(heap, base);
        unsigned kind = cell_kind(base);
        uint64_t i = position->payload;
        if (LIKELY(block->ndim == 1 && kind <= KIND_CHAR_UTF32)) {
            if (i >= block->dims[0]) JUMP(ip->to.no);
            struct cell value = kind == KIND_CHAR_UTF32 ? text_of_point(((const uint32_t *)block_body(block))[i])
                                                        : element_load(kind, block_body(block), i);
            struct cell old = cell_put(target, value); /* may be done twice: the position has not moved */
            record->stage = cell_int64((int64_t)(i + 1));
            pc_commit(record, PC_OF(ip) | PC_STAGED);
            store_order();
            position->payload = i + 1;
            cell_drop(heap, old);
            JUMP(ip->to.yes);
        }
    }
    goto slow;
}
L_CALL: {
    struct call_site *site = ip->site;
    struct link *callee = site->callee;
    uint32_t ref;
    if (LIKELY(callee && site->epoch == code_changes(core))) {
        struct frame *entered = call_fast(&at, site, callee, (uint32_t)(ip - code), limit, &ref);
        if (LIKELY(entered != NULL)) {
            pc_commit(record, pc_make(ref, 1));
            at.frame = frame = entered;
            at.ref = ref;
            at.link = callee;
            at.cells = cells = frame_cells(entered);
            code = callee->code;
            pc_base = ((uint64_t)ref << 32) - ((uint64_t)(uintptr_t)code >> 4);
            ip = code + 1;
            if (UNLIKELY(!callee->labelled)) labels_set(core, callee, labels);
            if (UNLIKELY(atomic_load_explicit(&record->attention, memory_order_relaxed))) goto attention;
            DISPATCH();
        }
    }
    goto slow;
}
L_END:
L_RETURN: {
    uint32_t segment = frame->segment;
    if (LIKELY(return_fast(&at, &row))) {
        frame = at.frame;
        cells = at.cells;
        code = at.link->code;
        pc_base = ((uint64_t)at.ref << 32) - ((uint64_t)(uintptr_t)code >> 4);
        if (UNLIKELY(segment != frame->segment)) limit = segment_end(heap, frame->segment);
        ip = code + row;
        if (UNLIKELY(!at.link->labelled)) labels_set(core, at.link, labels);
        DISPATCH();
    }
    goto slow;
}
L_TAILCALL:
L_ROW:
slow:
    row = (uint32_t)(ip - code);
    pc_commit(record, PC_OF(ip));
    rc = row_run(&at, row, &next);
    if (LIKELY(rc == ROW_NEXT)) {
        const struct instr *to = code + next;
        if (UNLIKELY(to <= ip && atomic_load_explicit(&record->attention, memory_order_relaxed))) {
            ip = to;
            goto attention;
        }
        ip = to;
        DISPATCH();
    }
    if (rc == ROW_ENTERED) {
        ENTER();
        ip = code + pc_row(pc_seen(record));
        if (UNLIKELY(atomic_load_explicit(&record->attention, memory_order_relaxed))) goto attention;
        DISPATCH();
    }
    if (rc == ROW_FINISHED) return RUN_DONE;
    if (rc == ROW_WAIT) return RUN_WAIT;
failed: /* the counter stands on `row` */
    error_record(core, record, at.link, row);
    return RUN_ERROR;

stop: /* a breakpoint, also of another vthread that runs here */
    pc = PC_OF(ip);
    if (core->break_vid != record->id || record->stopped_at == pc) {
        record->stopped_at = 0;
        goto *labels[ip->op];
    }
    record->stopped_at = pc;
    pc_commit(record, pc);
    return RUN_PAUSED;

attention: /* the counter is committed and ip stands on it */
    rc = attend(core, record);
    if (rc == RUN_ERROR) error_record(core, record, at.link, (uint32_t)(ip - code));
    if (rc) return rc;
    /* Here functions that were edited by hand are decoded again; then one row at a time, by the general path, if that was asked for. */
    row = (uint32_t)(ip - code);
    rc = activation_enter(&at, at.ref);
    if (rc) {
        error_record(core, record, at.link, row);
        return RUN_ERROR;
    }
    ENTER();
    if (row > at.link->rows + 1) row = at.link->rows + 1;
    ip = code + row;
    if (!(atomic_load_explicit(&record->attention, memory_order_relaxed) & ATTENTION_STEP)) DISPATCH();
    if (core->step_budget == 0) return RUN_STEPS;
    core->step_budget--;
    record->steps++;
    rc = row_run(&at, row, &next);
    if (rc == ROW_FINISHED) return RUN_DONE;
    if (rc == ROW_WAIT) return RUN_WAIT;
    if (rc > 0) {
        error_record(core, record, at.link, row);
        return RUN_ERROR;
    }
    if (rc == ROW_ENTERED) {
        ENTER();
        next = pc_row(pc_seen(record));
    }
    ip = code + next;
    goto attention;
}
