/* Choosing an instruction for each row: the specialised forms where the operands allow, OP_ROW for all else.
 * Relies on link_build.h. Promises: code[r] does what row r says, and a fused form what rows r and r + 1 say together;
 * branch targets are checked here, so that the loop need not. */
#include <string.h>

#include "core/link_build.h"

struct form {
    const char *opcode;
    uint16_t cells, constant, reversed, float_constant; /* OP_, 0: no such form */
    bool commutes;
    uint16_t jump, jump_constant;
    const char *mirrored; /* of a comparison with the constant on the left */
};

static const struct form forms[] = {
    { "add", OP_ADD, OP_ADD_K, 0, OP_ADD_FK, true, 0, 0, NULL },
    { "sub", OP_SUB, OP_SUB_K, OP_RSUB_K, OP_SUB_FK, false, 0, 0, NULL },
    { "mul", OP_MUL, OP_MUL_K, 0, OP_MUL_FK, true, 0, 0, NULL },
    { "div", OP_DIV, OP_DIV_K, 0, OP_DIV_FK, false, 0, 0, NULL },
    { "mod", OP_MOD, OP_MOD_K, 0, 0, false, 0, 0, NULL },
    { "bitand", OP_BITAND, OP_BITAND_K, 0, 0, true, 0, 0, NULL },
    { "bitor", OP_BITOR, OP_BITOR_K, 0, 0, true, 0, 0, NULL },
    { "bitxor", OP_BITXOR, OP_BITXOR_K, 0, 0, true, 0, 0, NULL },
    { "shl", 0, OP_SHL_K, 0, 0, false, 0, 0, NULL },
    { "shr", 0, OP_SHR_K, 0, 0, false, 0, 0, NULL },
    { "eq", OP_EQ, OP_EQ_K, 0, 0, true, OP_JEQ, OP_JEQ_K, NULL },
    { "neq", OP_NEQ, OP_NEQ_K, 0, 0, true, OP_JNEQ, OP_JNEQ_K, NULL },
    { "lt", OP_LT, OP_LT_K, 0, 0, false, OP_JLT, OP_JLT_K, "gt" },
    { "gt", OP_GT, OP_GT_K, 0, 0, false, OP_JGT, OP_JGT_K, "lt" },
    { "le", OP_LE, OP_LE_K, 0, 0, false, OP_JLE, OP_JLE_K, "ge" },
    { "ge", OP_GE, OP_GE_K, 0, 0, false, OP_JGE, OP_JGE_K, "le" },
};

static const struct form *form_find(const char *opcode) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].opcode, opcode) == 0) return &forms[i];
    }
    return NULL;
}

static bool is_cell(const struct operand *operand) { return operand->kind == OPERAND_CELL; }
static bool is_int(const struct operand *operand) {
    return operand->kind == OPERAND_CONSTANT && cell_tag(&operand->constant) == KIND_INT64;
}
static bool is_float(const struct operand *operand) {
    return operand->kind == OPERAND_CONSTANT && cell_tag(&operand->constant) == KIND_FLOAT64;
}
static uint32_t offset(const struct operand *operand) { return operand->cell * (uint32_t)sizeof(struct cell); }

static bool constant_fits(uint16_t op, int64_t k) {
    switch (op) {
    case OP_DIV_K: case OP_MOD_K: return k != 0 && k != -1;
    case OP_SHL_K: case OP_SHR_K: return k >= 0 && k <= 63;
    default: return true;
    }
}

static void code_binary(struct instr *code, const struct row *row) {
    if (row->read_count != 2 || row->write_count != 1 || !is_cell(&row->writes[0])) return;
    const struct operand *left = &row->reads[0], *right = &row->reads[1];
    const struct form *form = form_find(row->name);
    if (!form) return;
    if (!is_cell(left) && is_cell(right)) {
        if (form->commutes) {
            const struct operand *other = left;
            left = right;
            right = other;
        } else if (form->mirrored) {
            form = form_find(form->mirrored);
            right = left;
            left = &row->reads[1];
        } else if (form->reversed && is_int(left)) {
            code->op = form->reversed;
            code->a = offset(right);
            code->k = (int64_t)left->constant.payload;
        }
    }
    if (code->op == OP_ROW && is_cell(left)) {
        if (is_cell(right) && form->cells) {
            code->op = form->cells;
            code->b = offset(right);
        } else if (is_int(right) && form->constant && constant_fits(form->constant, (int64_t)right->constant.payload)) {
            code->op = form->constant;
            code->k = (int64_t)right->constant.payload;
        } else if (is_float(right) && form->float_constant && (form->float_constant != OP_DIV_FK || cell_as_float64(&right->constant) != 0)) {
            code->op = form->float_constant;
            code->f = cell_as_float64(&right->constant);
        }
        code->a = offset(left);
    }
    if (code->op == OP_ROW) return;
    code->c = offset(&row->writes[0]);
    if (code->c == code->a || (code->op == form->cells && code->c == code->b)) code->flags |= INSTR_ALIAS;
}

static int target(struct link_build *build, const struct row *row, const struct operand *operand, uint32_t *out) {
    int64_t number = is_int(operand) ? (int64_t)operand->constant.payload : 0;
    if (number < 1 || number > (int64_t)build->link->rows + 1) {
        return fault(build->heap, ERROR_RUNTIME, "%s: row %u: %s to a row that is not there", build->link->path, row->number, row->name);
    }
    *out = (uint32_t)number;
    return 0;
}

static int code_branch(struct link_build *build, struct instr *code, const struct row *row) {
    if (row->read_count != 3) return fault(build->heap, ERROR_RUNTIME, "%s: row %u: br wants a condition and two rows", build->link->path, row->number);
    uint32_t yes, no;
    int rc = target(build, row, &row->reads[1], &yes);
    if (!rc) rc = target(build, row, &row->reads[2], &no);
    if (rc) return rc;
    if (is_cell(&row->reads[0])) {
        code->op = OP_BR;
        code->a = offset(&row->reads[0]);
    }
    code->to.yes = yes;
    code->to.no = no;
    return 0;
}

/* Temporaries that some row reads without having been written before in the same stretch of rows: `crosses[cell]`. A stretch begins
 * where something branches to, and behind branches. All other temporaries are dead at the end of each stretch. */
static bool *temporaries_that_cross(struct link_build *build) {
    struct link *link = build->link;
    bool *leads = pool_take(&build->pool, link->rows + 2), *crosses = pool_take(&build->pool, link->cells + 1);
    uint32_t *written = pool_take(&build->pool, (link->cells + 1) * sizeof *written), begin = 1;
    if (!leads || !crosses || !written) return NULL;
    for (uint32_t number = 1; number <= link->rows; number++) {
        const struct row *row = link->row[number];
        bool branches = row->structural == STRUCTURAL_BR || row->structural == STRUCTURAL_NEXT, jumps = strcmp(row->name, "goto") == 0;
        for (unsigned r = 0; (branches || jumps) && r < row->read_count; r++) {
            if (is_int(&row->reads[r]) && row->reads[r].constant.payload <= link->rows) leads[row->reads[r].constant.payload] = true;
        }
        if (branches || jumps) leads[number + 1] = true;
    }
    for (uint32_t number = 1; number <= link->rows; number++) {
        const struct row *row = link->row[number];
        if (leads[number]) begin = number;
        for (unsigned r = 0; r < row->read_count; r++) {
            if (is_cell(&row->reads[r]) && written[row->reads[r].cell] < begin) crosses[row->reads[r].cell] = true;
        }
        for (unsigned w = 0; w < row->write_count; w++) {
            if (is_cell(&row->writes[w])) written[row->writes[w].cell] = number;
        }
    }
    return crosses;
}

/* A comparison and the br of the next row on its result become one. */
static void code_fuse(struct link_build *build, struct instr *code, const struct row *row, const bool *crosses) {
    struct link *link = build->link;
    const struct form *form = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].jump && (code->op == forms[i].cells || code->op == forms[i].constant)) form = &forms[i];
    }
    if (!form || row->number >= link->rows || (code->flags & INSTR_ALIAS)) return;
    const struct instr *branch = code + 1;
    if (branch->op != OP_BR || branch->a != code->c) return;
    uint32_t cell = code->c / (uint32_t)sizeof(struct cell);
    if (strncmp(build->names[cell], "‥", strlen("‥")) != 0 || crosses[cell]) return;
    if (code->op == form->constant) { /* k is taken: the rows go to b and c */
        code->op = form->jump_constant;
        code->b = branch->to.yes;
        code->c = branch->to.no;
    } else {
        code->op = form->jump;
        code->c = 0;
        code->to = branch->to;
    }
}

/* A native that may run by itself, without staging, waiting or the tree: what it is given is all that it reads. None of other tables: what
 * has effects must not be called once more when it fails. */
static int code_native(struct link_build *build, struct instr *code, const struct row *row) {
    const struct native_row *native = row->native;
    if (!native || native != native_find(row->name, strlen(row->name)) || row->reuse || row->self || native->results != 1 || row->write_count != 1 || !is_cell(&row->writes[0])) return 0;
    if (native->reuse == EFFECT_RANDOM || native->reuse == EFFECT_TREE || native->reuse == EFFECT_MAKES) return 0;
    if (row->read_count > NATIVE_SITE_MAX || row->read_count < native->least || row->read_count > native->most) return 0;
    for (unsigned r = 0; r < row->read_count; r++) {
        if (row->reads[r].kind != OPERAND_CELL && row->reads[r].kind != OPERAND_CONSTANT) return 0;
    }
    struct native_site *site = pool_take(&build->pool, sizeof *site);
    if (!site) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
    site->run = native->run;
    site->row = row;
    site->count = row->read_count;
    for (unsigned r = 0; r < row->read_count; r++) {
        if (is_cell(&row->reads[r])) site->offset[r] = offset(&row->reads[r]);
        else site->constant[r] = &row->reads[r].constant;
    }
    code->op = OP_NATIVE;
    code->c = offset(&row->writes[0]);
    code->native = site;
    return 0;
}

/* `member`, `key`, `index` and `map·has` of a map in a cell, by a key in a cell or a constant one. */
static void code_member(struct instr *code, const struct row *row, uint16_t op) {
    if (row->read_count != 2 || row->write_count != 1 || row->self || !is_cell(&row->writes[0]) || !is_cell(&row->reads[0])) return;
    if (!is_cell(&row->reads[1]) && row->reads[1].kind != OPERAND_CONSTANT) return;
    code->op = op;
    code->a = offset(&row->reads[0]);
    code->c = offset(&row->writes[0]);
    code->row = row;
}

static void code_set_member(struct instr *code, const struct row *row) {
    if (row->read_count != 2 || row->write_count != 1 || row->self || !is_cell(&row->writes[0])) return;
    for (unsigned r = 0; r < 2; r++) {
        if (!is_cell(&row->reads[r]) && row->reads[r].kind != OPERAND_CONSTANT) return;
    }
    code->op = OP_SETMEMBER;
    code->a = offset(&row->writes[0]);
    code->row = row;
}

static int code_call(struct link_build *build, struct instr *code, struct row *row, bool tail) {
    struct call_site *site = pool_take(&build->pool, sizeof *site);
    if (!site) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
    const struct operand *target_operand = &row->reads[0];
    if (row->read_count < 1 || (target_operand->kind != OPERAND_PATH && target_operand->kind != OPERAND_CONSTANT)) {
        return fault(build->heap, ERROR_RUNTIME, "%s: row %u: a call names its function by path", build->link->path, row->number);
    }
    if (target_operand->kind == OPERAND_PATH) {
        site->path = target_operand->path;
    } else {
        char text[KVSPACE_KEY_MAX + 1];
        size_t bytes;
        if (!cell_is_text(&target_operand->constant) || !text_to_utf8(build->heap, &target_operand->constant, text, sizeof text, &bytes)) {
            return fault(build->heap, ERROR_RUNTIME, "%s: row %u: a call names its function by path", build->link->path, row->number);
        }
        site->path = pool_text(&build->pool, text, bytes);
        if (!site->path) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", build->link->path);
    }
    site->row = row;
    site->simple = true;
    for (unsigned i = 1; i < row->read_count; i++) {
        if (row->reads[i].kind == OPERAND_PATH) site->simple = false;
    }
    for (unsigned i = 0; i < row->write_count; i++) {
        if (row->writes[i].kind == OPERAND_PATH) site->simple = false;
    }
    row->site = site;
    code->op = tail ? OP_TAILCALL : OP_CALL;
    code->site = site;
    return 0;
}

static int code_row(struct link_build *build, struct instr *code, struct row *row) {
    code->op = OP_ROW;
    if (strcmp(row->name, "goto") == 0) {
        if (row->read_count != 1) return fault(build->heap, ERROR_RUNTIME, "%s: row %u: goto wants a row", build->link->path, row->number);
        code->op = OP_GOTO;
        return target(build, row, &row->reads[0], &code->a);
    }
    if (strcmp(row->name, "return") == 0) {
        code->op = OP_RETURN;
        return 0;
    }
    if (strcmp(row->name, "call") == 0) return code_call(build, code, row, false);
    if (strcmp(row->name, "tailcall") == 0) return code_call(build, code, row, true);
    switch (row->structural) {
    case STRUCTURAL_BR: return code_branch(build, code, row);
    case STRUCTURAL_SET:
        if (row->read_count == 1 && row->write_count == 1 && is_cell(&row->writes[0]) && !row->self) {
            code->c = offset(&row->writes[0]);
            if (is_cell(&row->reads[0])) {
                code->op = OP_SET;
                code->a = offset(&row->reads[0]);
            } else if (row->reads[0].kind == OPERAND_CONSTANT && cell_is_scalar(&row->reads[0].constant)) {
                code->op = OP_SET_K;
                code->a = (uint32_t)row->reads[0].constant.head;
                code->u = row->reads[0].constant.payload;
            }
        }
        return 0;
    case STRUCTURAL_INDEX:
        if (row->write_count == 1 && is_cell(&row->writes[0]) && !row->self && is_cell(&row->reads[0]) &&
            (row->read_count == 2 || row->read_count == 3) && is_cell(&row->reads[1]) &&
            (row->read_count == 2 || is_cell(&row->reads[2]))) {
            code->op = row->read_count == 2 ? OP_INDEX : OP_INDEX2;
            code->a = offset(&row->reads[0]);
            code->b = offset(&row->reads[1]);
            code->c = offset(&row->writes[0]);
            if (row->read_count == 3) code->u = offset(&row->reads[2]);
        } else {
            code_member(code, row, OP_MEMBER);
        }
        return 0;
    case STRUCTURAL_MEMBER:
    case STRUCTURAL_KEY: code_member(code, row, OP_MEMBER); return 0;
    case STRUCTURAL_SETMEMBER:
    case STRUCTURAL_SETKEY: code_set_member(code, row); return 0;
    case STRUCTURAL_NEWMAP:
        if (row->read_count != 1 || row->write_count != 1 || row->self || !is_cell(&row->writes[0]) || !row->type) return 0;
        code->op = OP_NEWMAP;
        code->c = offset(&row->writes[0]);
        code->row = row;
        return 0;
    case STRUCTURAL_SETINDEX: /* v, i… -> base */
        if (row->write_count == 1 && is_cell(&row->writes[0]) && !row->self && (row->read_count == 2 || row->read_count == 3) &&
            is_cell(&row->reads[1]) && (row->read_count == 2 || is_cell(&row->reads[2])) &&
            is_cell(&row->reads[0])) {
            code->op = row->read_count == 2 ? OP_SETINDEX : OP_SETINDEX2;
            code->a = offset(&row->writes[0]);
            code->b = offset(&row->reads[1]);
            code->c = offset(&row->reads[0]);
            if (row->read_count == 3) code->u = offset(&row->reads[2]);
            else code->row = row;
        } else {
            code_set_member(code, row);
        }
        return 0;
    case STRUCTURAL_NEXT: {
        uint32_t more, done;
        if (row->read_count != 4 || row->write_count < 2) {
            return fault(build->heap, ERROR_RUNTIME, "%s: row %u: next wants a container, a position and two rows", build->link->path, row->number);
        }
        int rc = target(build, row, &row->reads[2], &more);
        if (!rc) rc = target(build, row, &row->reads[3], &done);
        if (rc) return rc;
        code->to.yes = more;
        code->to.no = done;
        if (row->write_count == 2 && is_cell(&row->reads[0]) && is_cell(&row->reads[1]) && is_cell(&row->writes[0]) &&
            is_cell(&row->writes[1]) && row->reads[1].cell == row->writes[0].cell && row->writes[1].cell != row->reads[0].cell &&
            row->writes[1].cell != row->reads[1].cell) {
            code->op = OP_NEXT;
            code->a = offset(&row->reads[0]);
            code->b = offset(&row->reads[1]);
            code->c = offset(&row->writes[1]);
        }
        return 0;
    }
    case STRUCTURAL_NONE:
        code_binary(code, row);
        if (row->native && !row->host && strcmp(row->name, "map·has") == 0) code_member(code, row, OP_HAS);
        return code->op == OP_ROW ? code_native(build, code, row) : 0;
    default: return 0;
    }
}

int link_code(struct link_build *build) {
    struct link *link = build->link;
    link->code = pool_take(&build->pool, ((size_t)link->rows + 2) * sizeof *link->code);
    if (!link->code) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", link->path);
    link->code[0].op = link->code[link->rows + 1].op = OP_END;
    for (uint32_t number = 1; number <= link->rows; number++) {
        int rc = code_row(build, &link->code[number], link->row[number]);
        if (rc) return rc;
    }
    const bool *crosses = temporaries_that_cross(build);
    if (!crosses) return fault(build->heap, ERROR_OUT_OF_MEMORY, "no memory to link %s", link->path);
    for (uint32_t number = 1; number < link->rows; number++) code_fuse(build, &link->code[number], link->row[number], crosses);
    return 0;
}
