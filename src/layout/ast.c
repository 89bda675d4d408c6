/* The arena, the texts and the tables of the syntax tree.
 * Relies on malloc alone. Promise: an allocation that fails leaves the arena as it was; the caller sees NULL. */
#include "layout/ast.h"
#include <stdlib.h>
#include <string.h>

/* Blocks double from 4 KiB to 1 MiB, so that small files stay small and large ones cost few calls of malloc. */
#define BLOCK_MIN_BYTES ((size_t)4 << 10)
#define BLOCK_MAX_BYTES ((size_t)1 << 20)
#define ALIGNMENT _Alignof(void *) /* pointers, 64-bit words and doubles are all that a tree holds */

struct ast_arena_block {
    struct ast_arena_block *next;
    size_t used;
    size_t size;
    uint64_t bytes[];
};

static struct ast_arena_block *block_add(struct ast_arena *arena, size_t bytes) {
    size_t size = arena->blocks ? arena->blocks->size * 2 : BLOCK_MIN_BYTES;
    if (size > BLOCK_MAX_BYTES) size = BLOCK_MAX_BYTES;
    if (size < bytes) size = bytes;
    struct ast_arena_block *block = malloc(sizeof *block + size);
    if (!block) return NULL;
    block->next = arena->blocks;
    block->used = 0;
    block->size = size;
    arena->blocks = block;
    return block;
}

void *ast_alloc(struct ast_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->limit_bytes && bytes > arena->limit_bytes - arena->used_bytes) return NULL;
    struct ast_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) {
        block = block_add(arena, bytes);
        if (!block) return NULL;
    }
    void *at = (char *)block->bytes + block->used;
    block->used += bytes;
    arena->used_bytes += bytes;
    memset(at, 0, bytes);
    return at;
}

void ast_arena_free(struct ast_arena *arena) {
    struct ast_arena_block *block = arena->blocks;
    while (block) {
        struct ast_arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
    arena->used_bytes = 0;
}

struct ast_text ast_copy(struct ast_arena *arena, struct ast_text text) {
    char *at = text.length ? ast_alloc(arena, text.length) : NULL;
    if (!at) return (struct ast_text){"", 0};
    memcpy(at, text.at, text.length);
    return (struct ast_text){at, text.length};
}

#define WITH(member) (offsetof(struct ast_node, as) + sizeof(((struct ast_node *)0)->as.member))

/* Bytes of a node by kind. NAME is as large as STRING: a name before `=` in { } becomes a text key in place. */
static const uint8_t node_bytes[AST_KIND_COUNT] = {
    [AST_NONE] = WITH(boolean),       [AST_BOOL] = WITH(boolean),       [AST_INT] = WITH(integer),
    [AST_FLOAT] = WITH(real),         [AST_STRING] = WITH(string),      [AST_NAME] = WITH(string),
    [AST_PATH] = WITH(path),          [AST_ACCESS] = WITH(access),      [AST_CALL] = WITH(call),
    [AST_PREFIX] = WITH(prefix),      [AST_CHAIN] = WITH(chain),        [AST_ARRAY] = WITH(array),
    [AST_FILL] = WITH(array),         [AST_MAP] = WITH(map),            [AST_STRUCT_LITERAL] = WITH(struct_literal),
    [AST_DISCARD] = WITH(name),       [AST_WRITE] = WITH(write),        [AST_RUN] = WITH(run),
    [AST_IF] = WITH(if_else),         [AST_WHILE] = WITH(while_loop),   [AST_FOR] = WITH(for_loop),
    [AST_BREAK] = WITH(boolean),      [AST_CONTINUE] = WITH(boolean),   [AST_RETURN] = WITH(boolean),
    [AST_FUNCTION] = WITH(function),  [AST_RWIR] = WITH(function),      [AST_STRUCT] = WITH(structure),
    [AST_LIB] = WITH(lib),            [AST_ERROR] = WITH(string),
};

struct ast_node *ast_node(struct ast_arena *arena, enum ast_kind kind) {
    struct ast_node *node = ast_alloc(arena, node_bytes[kind]);
    if (node) node->kind = (uint8_t)kind;
    return node;
}

struct ast_text ast_text_of(const char *zero_terminated) {
    return (struct ast_text){zero_terminated, (uint32_t)strlen(zero_terminated)};
}

bool ast_text_equal(struct ast_text a, struct ast_text b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

bool ast_text_is(struct ast_text a, const char *zero_terminated) {
    return ast_text_equal(a, ast_text_of(zero_terminated));
}

struct ast_text ast_package_part(struct ast_text name, uint32_t member_at) {
    return (struct ast_text){name.at, member_at < 2 ? 0 : member_at - 2}; /* `·` takes two bytes */
}

struct ast_text ast_name_part(struct ast_text name, uint32_t member_at) {
    return (struct ast_text){name.at + member_at, name.length - member_at};
}

static const struct ast_op_row op_rows[] = {
#define OP(name, text, alias, level, opcode) {text, alias, level, opcode},
#include "layout/ast_ops.def"
#undef OP
};

const struct ast_op_row *ast_op_row(enum ast_op op) {
    return &op_rows[op];
}

const char *ast_prefix_text(enum ast_prefix prefix) {
    static const char *const texts[] = {"+", "-", "!", "√", "&", "*"};
    return texts[prefix];
}

const char *ast_kind_text(enum ast_kind kind) {
    static const char *const texts[] = {
#define KIND(name, text) text,
#include "layout/ast_kinds.def"
#undef KIND
    };
    return texts[kind];
}
