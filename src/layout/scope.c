/* The table of symbols and the rules of names. Relies on scope.h's tree for what is laid out already.
 * Promise: see scope.h. A key that nothing provides is remembered too, as a symbol of kind FOUND_NOTHING. */
#include "layout/scope.h"
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY 2
#define TEXT(literal) ((struct ast_text){literal, sizeof literal - 1})

static uint32_t hash_of(struct ast_text text) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < text.length; i++) hash = (hash ^ (unsigned char)text.at[i]) * 16777619u;
    return hash ^ hash >> 15;
}

bool scope_start(struct scope *scope, struct ast_arena *arena, struct diag_list *diags, const struct layout_tree *tree) {
    memset(scope, 0, sizeof *scope);
    scope->arena = arena;
    scope->diags = diags;
    scope->tree = tree;
    scope->room = 1024;
    scope->table = calloc(scope->room, sizeof *scope->table);
    return types_start(&scope->types, arena) && scope->table;
}

void scope_end(struct scope *scope) {
    types_end(&scope->types);
    free(scope->table);
    scope->table = NULL;
}

static struct symbol **place_of(struct scope *scope, struct ast_text path) {
    struct symbol **place = &scope->table[hash_of(path) & (scope->room - 1)];
    while (*place && !ast_text_equal((*place)->path, path)) place = &(*place)->next;
    return place;
}

static void table_grow(struct scope *scope) {
    struct symbol **old = scope->table;
    uint32_t old_room = scope->room;
    struct symbol **wider = calloc((size_t)old_room * 4, sizeof *wider);
    if (!wider) return; /* longer chains, nothing worse */
    scope->table = wider;
    scope->room = old_room * 4;
    for (uint32_t i = 0; i < old_room; i++)
        for (struct symbol *symbol = old[i], *next; symbol; symbol = next) {
            next = symbol->next;
            struct symbol **place = &wider[hash_of(symbol->path) & (scope->room - 1)];
            symbol->next = *place;
            *place = symbol;
        }
    free(old);
}

static struct symbol *add(struct scope *scope, struct ast_text path) {
    if (scope->used > scope->room) table_grow(scope);
    struct symbol *symbol = ast_alloc(scope->arena, sizeof *symbol);
    if (!symbol) {
        scope->failed = NO_MEMORY;
        return NULL;
    }
    symbol->path = path;
    struct symbol **place = place_of(scope, path);
    symbol->next = NULL;
    *place = symbol;
    scope->used++;
    return symbol;
}

struct ast_text scope_join(struct scope *scope, struct ast_text a, const char *between, struct ast_text b) {
    size_t middle = strlen(between);
    char *at = ast_alloc(scope->arena, a.length + middle + b.length + 1);
    if (!at) {
        scope->failed = NO_MEMORY;
        return TEXT("");
    }
    memcpy(at, a.at, a.length);
    memcpy(at + a.length, between, middle);
    if (b.length) memcpy(at + a.length + middle, b.at, b.length);
    return (struct ast_text){at, (uint32_t)(a.length + middle + b.length)};
}

struct ast_text scope_path(struct scope *scope, struct ast_text package, struct ast_text name) {
    if (!package.length) return scope_join(scope, TEXT("/lib/"), "", name);
    return scope_join(scope, scope_join(scope, TEXT("/lib/"), "", package), "\xc2\xb7", name);
}

struct ast_text scope_shown(const struct symbol *symbol) {
    return (struct ast_text){symbol->path.at + 5, symbol->path.length - 5};
}

/* ---- the tree ---- */

static void ask_tree(struct scope *scope, struct symbol *symbol) {
    struct layout_found found = {0};
    if (!scope->tree || !scope->tree->find || scope->failed) return;
    int rc = scope->tree->find(scope->tree->context, scope->arena, symbol->path, &found);
    if (rc) {
        scope->failed = rc;
        return;
    }
    symbol->kind = found.kind;
    symbol->variadic = found.variadic;
    symbol->reads = found.reads;
    symbol->writes = found.writes;
    symbol->texts = found.params;
    symbol->from_tree = true;
    for (uint32_t i = 5; i + 1 < symbol->path.length; i++)
        if (memcmp(symbol->path.at + i, "\xc2\xb7", 2) == 0) symbol->package = (struct ast_text){symbol->path.at + 5, i - 5};
}

struct symbol *scope_find(struct scope *scope, struct ast_text path) {
    struct symbol *symbol = *place_of(scope, path);
    if (!symbol) {
        symbol = add(scope, path);
        if (!symbol) return NULL;
        ask_tree(scope, symbol);
    }
    return symbol->kind == FOUND_NOTHING ? NULL : symbol;
}

/* ---- declarations ---- */

static void declare(struct scope *scope, struct ast_text package, const struct ast_node *node) {
    bool structure = node->kind == AST_STRUCT;
    struct ast_text name = structure ? node->as.structure.name : node->as.function.name;
    struct ast_pos at = structure ? node->as.structure.name_at : node->as.function.name_at;
    struct ast_text path;
    bool qualified = false;
    for (uint32_t i = 0; i + 1 < name.length; i++) qualified |= memcmp(name.at + i, "\xc2\xb7", 2) == 0;
    path = scope_path(scope, qualified ? TEXT("") : package, name);
    struct symbol *symbol = *place_of(scope, path);
    if (symbol && symbol->node) {
        struct ast_pos first = symbol->node->kind == AST_STRUCT ? symbol->node->as.structure.name_at : symbol->node->as.function.name_at;
        diag_error(scope->diags, DIAG_SYNTAX, at, "`%.*s` is declared twice", (int)name.length, name.at);
        diag_note(scope->diags, "the first declaration is on line %u", (unsigned)first.line);
        return;
    }
    if (!symbol) symbol = add(scope, path);
    if (!symbol) return;
    symbol->node = node;
    symbol->package = package;
    symbol->kind = structure ? FOUND_STRUCT : node->kind == AST_RWIR ? FOUND_OPCODE : FOUND_FUNCTION;
    symbol->reads = structure ? 0 : node->as.function.reads.count;
    symbol->writes = structure ? node->as.structure.count : node->as.function.writes.count;
    symbol->variadic = !structure && symbol->reads && node->as.function.reads.at[symbol->reads - 1].variadic;
    if (symbol->kind == FOUND_FUNCTION && scope->tree) {
        struct layout_found found = {0};
        int rc = scope->tree->find(scope->tree->context, scope->arena, path, &found);
        if (rc) scope->failed = rc;
        symbol->tree_opcode = found.kind == FOUND_OPCODE;
    }
}

static void declare_all(struct scope *scope, struct ast_text package, const struct ast_nodes *items) {
    for (uint32_t i = 0; i < items->count; i++) {
        const struct ast_node *node = items->at[i];
        if (node->kind == AST_FUNCTION || node->kind == AST_RWIR || node->kind == AST_STRUCT) declare(scope, package, node);
        if (node->kind == AST_LIB) {
            struct ast_text name = node->as.lib.name;
            declare_all(scope, package.length ? scope_join(scope, package, "/", name) : name, &node->as.lib.block.body);
        }
    }
}

void scope_declare(struct scope *scope, const struct ast_file *file) {
    declare_all(scope, TEXT(""), &file->items);
}

/* ---- which name means what ---- */

static bool starts_with(struct ast_text text, const char *start) {
    size_t length = strlen(start);
    return text.length >= length && memcmp(text.at, start, length) == 0;
}

struct symbol *scope_callee(struct scope *scope, struct ast_text package, struct ast_text callee, uint32_t member_at) {
    struct symbol *symbol = NULL;
    if (callee.length && callee.at[0] == '/') symbol = scope_find(scope, callee);
    else if (member_at) {
        struct ast_text where = ast_package_part(callee, member_at), name = ast_name_part(callee, member_at);
        if (ast_text_is(where, "kvspace")) where = TEXT("kv");
        symbol = scope_find(scope, scope_path(scope, where, name));
    } else {
        if (package.length) symbol = scope_find(scope, scope_path(scope, package, callee));
        if (!symbol || (symbol->kind != FOUND_FUNCTION && symbol->kind != FOUND_OPCODE)) symbol = scope_find(scope, scope_path(scope, TEXT(""), callee));
    }
    return symbol && (symbol->kind == FOUND_FUNCTION || symbol->kind == FOUND_OPCODE) ? symbol : NULL;
}

struct symbol *scope_struct(struct scope *scope, struct ast_text package, struct ast_text name, uint32_t member_at) {
    struct symbol *symbol = NULL;
    if (name.length && name.at[0] == '/') symbol = scope_find(scope, name);
    else if (member_at) symbol = scope_find(scope, scope_path(scope, ast_package_part(name, member_at), ast_name_part(name, member_at)));
    else {
        if (package.length) symbol = scope_find(scope, scope_path(scope, package, name));
        if (!symbol || symbol->kind != FOUND_STRUCT) symbol = scope_find(scope, scope_path(scope, TEXT(""), name));
    }
    return symbol && symbol->kind == FOUND_STRUCT ? symbol : NULL;
}

/* ---- types as they are written ---- */

static bool word_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte == '/' || (byte & 0x80);
}

/* Bytes of the name at `at`: letters, digits, `/` and `·` before a letter, but `·` behind a kind ends a key. */
static uint32_t name_length(struct ast_text text, uint32_t at, uint32_t *member_at) {
    uint32_t end = at;
    *member_at = 0;
    while (end < text.length && word_byte(text.at[end])) {
        if (end + 1 < text.length && memcmp(text.at + end, "\xc2\xb7", 2) == 0) {
            if (*member_at || kind_from_name(text.at + at, end - at) != KIND_NONE) break;
            *member_at = end + 2 - at;
            end++;
        }
        end++;
    }
    return end - at;
}

static void unknown_type(struct scope *scope, struct ast_text package, struct ast_pos at, struct ast_text name) {
    char near[256];
    scope_nearest(scope, package, name, true, near, sizeof near);
    diag_error(scope->diags, DIAG_TYPE, at, "there is no type `%.*s`%s%s%s", (int)name.length, name.at, near[0] ? "; did you mean " : "",
        near, near[0] ? "?" : "");
}

const struct type *scope_type(struct scope *scope, struct ast_text package, struct ast_type written) {
    struct typexpr_error error = {0};
    if (!written.text.length) return NULL;
    const struct type *type = types_of(&scope->types, written.text, &error);
    if (!type) {
        struct ast_pos at = written.at;
        if (error.code) diag_error(scope->diags, error.code == TYPEXPR_ESYNTAX ? DIAG_SYNTAX : DIAG_TYPE, at, "%s", error.message);
        else scope->failed = NO_MEMORY;
        return NULL;
    }
    if (type->scalar || type->string) return type;
    struct ast_text text = written.text, full = TEXT("");
    uint32_t copied = 0;
    for (uint32_t i = 0; i < text.length;) {
        char byte = text.at[i];
        bool dims = byte == '[' || byte == ']' || byte == ',' || byte == '.' || byte == '?' || byte == '*' || byte == '+' || byte == '|' || byte == '@' || byte == ' ';
        if (dims || (byte >= '0' && byte <= '9')) {
            i++;
            continue;
        }
        if (i + 1 < text.length && memcmp(text.at + i, "\xc2\xb7", 2) == 0) {
            i += 2;
            continue;
        }
        if (!word_byte(byte)) {
            i++;
            continue;
        }
        uint32_t member_at, length = name_length(text, i, &member_at);
        struct ast_text name = {text.at + i, length};
        if (!ast_text_is(name, "any") && kind_from_name(name.at, name.length) == KIND_NONE) {
            struct symbol *symbol = scope_struct(scope, package, name, member_at);
            if (!symbol) {
                unknown_type(scope, package, written.at, name);
                return NULL;
            }
            full = scope_join(scope, scope_join(scope, full, "", (struct ast_text){text.at + copied, i - copied}), "", scope_shown(symbol));
            copied = i + length;
        }
        i += length;
    }
    if (!copied) return type;
    full = scope_join(scope, full, "", (struct ast_text){text.at + copied, text.length - copied});
    return types_of(&scope->types, full, NULL);
}

static void split_param(struct scope *scope, struct ast_text text, struct signature_param *param) {
    uint32_t colon = 0;
    while (colon < text.length && text.at[colon] != ':') colon++;
    param->name = (struct ast_text){text.at, colon};
    if (colon == text.length) return;
    struct ast_text type = {text.at + colon + 1, text.length - colon - 1};
    if (type.length > 3 && memcmp(type.at + type.length - 3, "...", 3) == 0) type.length -= 3;
    param->type = types_of(&scope->types, type, NULL);
}

void scope_type_params(struct scope *scope, struct symbol *symbol) {
    if (symbol->typed) return;
    symbol->typed = true;
    uint32_t count = symbol->reads + symbol->writes;
    symbol->params = ast_alloc(scope->arena, (count + 1) * sizeof *symbol->params);
    if (!symbol->params) {
        scope->failed = NO_MEMORY;
        symbol->reads = symbol->writes = 0;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct signature_param *param = &symbol->params[i];
        if (!symbol->node) split_param(scope, symbol->texts[i], param);
        else if (symbol->kind == FOUND_STRUCT) {
            param->name = symbol->node->as.structure.fields[i].name;
            param->type = scope_type(scope, symbol->package, symbol->node->as.structure.fields[i].type);
        } else {
            const struct ast_params *list = i < symbol->reads ? &symbol->node->as.function.reads : &symbol->node->as.function.writes;
            const struct ast_param *written = &list->at[i < symbol->reads ? i : i - symbol->reads];
            param->name = written->name;
            param->type = scope_type(scope, symbol->package, written->type);
        }
    }
}

/* ---- suggestions ---- */

enum { WORD_MAX = 64 };

static uint32_t code_points(struct ast_text text, uint32_t *points) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < text.length && count < WORD_MAX; i++)
        if ((text.at[i] & 0xc0) != 0x80) points[count++] = (unsigned char)text.at[i];
        else if (count) points[count - 1] = points[count - 1] << 6 ^ (unsigned char)text.at[i];
    return count;
}

unsigned scope_distance(struct ast_text a, struct ast_text b, unsigned limit) {
    uint32_t left[WORD_MAX], right[WORD_MAX], rows[3][WORD_MAX + 1];
    if (!a.length || !b.length || (a.at[0] & 0xc0) == 0x80 || (b.at[0] & 0xc0) == 0x80) return limit + 1;
    uint32_t n = code_points(a, left), m = code_points(b, right);
    if ((n > m ? n - m : m - n) > limit) return limit + 1;
    for (uint32_t j = 0; j <= m; j++) rows[0][j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t *above = rows[(i - 1) % 3], *row = rows[i % 3], *two = rows[(i + 1) % 3], best = i;
        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            uint32_t cost = above[j - 1] + (left[i - 1] != right[j - 1]);
            if (above[j] + 1 < cost) cost = above[j] + 1;
            if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] && two[j - 2] + 1 < cost) cost = two[j - 2] + 1;
            row[j] = cost;
            if (cost < best) best = cost;
        }
        if (best > limit) return limit + 1;
    }
    return rows[n % 3][m];
}

struct nearest {
    struct ast_text names[3];
    unsigned distances[3];
    uint32_t count;
    struct ast_text wanted, package;
    bool structs;
    struct ast_arena *arena; /* visited keys may be gone after the visit: what is kept is copied */
};

unsigned scope_near_limit(struct ast_text name) {
    uint32_t points[WORD_MAX], count = name.length && (name.at[0] & 0xc0) != 0x80 ? code_points(name, points) : 0;
    return count < 2 ? 0 : count < 5 ? 1 : count < 9 ? 2 : 3;
}

static void consider(struct nearest *nearest, struct ast_text name) {
    unsigned limit = scope_near_limit(nearest->wanted);
    unsigned distance = scope_distance(nearest->wanted, name, limit);
    if (distance > limit) return;
    for (uint32_t i = 0; i < nearest->count; i++)
        if (ast_text_equal(nearest->names[i], name)) return;
    uint32_t at = nearest->count;
    while (at > 0 && nearest->distances[at - 1] > distance) at--;
    if (at >= 3) return;
    if (nearest->count < 3) nearest->count++;
    for (uint32_t i = nearest->count - 1; i > at; i--) {
        nearest->names[i] = nearest->names[i - 1];
        nearest->distances[i] = nearest->distances[i - 1];
    }
    nearest->names[at] = ast_copy(nearest->arena, name);
    nearest->distances[at] = distance;
}

static void visit_key(void *context, struct ast_text key, uint8_t kind) {
    struct nearest *nearest = context;
    bool callable = kind == FOUND_FUNCTION || kind == FOUND_OPCODE;
    if (key.length <= 5 || (nearest->structs ? kind != FOUND_STRUCT : !callable)) return;
    struct ast_text shown = {key.at + 5, key.length - 5};
    consider(nearest, shown);
    uint32_t package = nearest->package.length;
    if (package && shown.length > package + 2 && memcmp(shown.at, nearest->package.at, package) == 0 && memcmp(shown.at + package, "\xc2\xb7", 2) == 0)
        consider(nearest, (struct ast_text){shown.at + package + 2, shown.length - package - 2});
}

/* A name of a package that was written without it, or with a part of it: `millis` for `time/duration·millis`. */
static void visit_tail(void *context, struct ast_text key, uint8_t kind) {
    struct nearest *nearest = context;
    bool callable = kind == FOUND_FUNCTION || kind == FOUND_OPCODE;
    if (key.length <= 5 || (nearest->structs ? kind != FOUND_STRUCT : !callable)) return;
    uint32_t tail = nearest->wanted.length;
    if (key.length <= tail + 6 || memcmp(key.at + key.length - tail, nearest->wanted.at, tail) != 0 || nearest->count == 3) return;
    const char *before = key.at + key.length - tail;
    if (before[-1] == '/' || memcmp(before - 2, "\xc2\xb7", 2) == 0)
        nearest->names[nearest->count++] = ast_copy(nearest->arena, (struct ast_text){key.at + 5, key.length - 5});
}

static void visit_all(struct scope *scope, void (*visit)(void *, struct ast_text, uint8_t), struct nearest *nearest) {
    for (uint32_t i = 0; i < scope->room; i++)
        for (struct symbol *symbol = scope->table[i]; symbol; symbol = symbol->next)
            if (symbol->node) visit(nearest, symbol->path, symbol->kind);
    if (!scope->tree || !scope->tree->each) return;
    int rc = scope->tree->each(scope->tree->context, visit, nearest);
    if (rc && !scope->failed) scope->failed = rc;
}

void scope_nearest(struct scope *scope, struct ast_text package, struct ast_text callee, bool structs, char *out, size_t room) {
    struct nearest nearest = {.wanted = callee, .package = package, .structs = structs, .arena = scope->arena};
    if (starts_with(callee, "/lib/")) nearest.wanted = (struct ast_text){callee.at + 5, callee.length - 5};
    if (starts_with(callee, "kvspace\xc2\xb7")) nearest.wanted = scope_join(scope, TEXT("kv"), "", (struct ast_text){callee.at + 7, callee.length - 7});
    visit_all(scope, visit_tail, &nearest);
    if (!nearest.count) {
        visit_all(scope, visit_key, &nearest);
        while (nearest.count > 1 && nearest.distances[nearest.count - 1] > nearest.distances[0] + 1) nearest.count--; /* far beside the best */
    }
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < nearest.count; i++) {
        const char *before = i == 0 ? "" : i + 1 == nearest.count ? " or " : ", ";
        size_t need = strlen(before) + nearest.names[i].length + 3;
        if (used + need > room) break;
        memcpy(out + used, before, strlen(before));
        used += strlen(before);
        out[used++] = '`';
        memcpy(out + used, nearest.names[i].at, nearest.names[i].length);
        used += nearest.names[i].length;
        out[used++] = '`';
        out[used] = '\0';
    }
}
