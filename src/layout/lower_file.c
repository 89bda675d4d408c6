/* A file's declarations to items: functions, opcodes, structs, and the init of each lib that has bare instructions.
 * Relies on lower.h. Promise: every declaration is checked, whether it is used or not; inits come in the order in which they run. */
#include <stdlib.h>
#include <string.h>
#include "layout/layout.h"
#include "layout/lower.h"
#include "layout/scan.h"

#define NO_TEXT ((struct ast_text){"", 0})

/* The bare instructions of a package, all over the file. */
struct init {
    struct ast_text package;
    struct ast_nodes body;
    uint32_t room;
};

struct filing {
    struct scope *scope;
    struct ast_arena *arena;
    struct diag_list *diags;
    struct layout_unit *unit;
    uint32_t item_room, init_room;
    struct init *inits;
    uint32_t init_count;
    bool out_of_memory;
};

static struct layout_item *add_item(struct filing *filing, enum layout_item_kind kind) {
    struct layout_unit *unit = filing->unit;
    if (unit->count == filing->item_room) {
        uint32_t room = filing->item_room ? filing->item_room * 2 : 16;
        struct layout_item *items = ast_alloc(filing->arena, room * sizeof *items);
        if (!items) {
            filing->out_of_memory = true;
            return NULL;
        }
        if (unit->count) memcpy(items, unit->items, unit->count * sizeof *items);
        unit->items = items;
        filing->item_room = room;
    }
    struct layout_item *item = &unit->items[unit->count++];
    *item = (struct layout_item){.kind = (uint8_t)kind, .source = NO_TEXT, .doc = NO_TEXT};
    return item;
}

static void item_params(struct filing *filing, struct layout_item *item, struct symbol *symbol) {
    scope_type_params(filing->scope, symbol);
    uint32_t count = symbol->reads + symbol->writes;
    item->params = ast_alloc(filing->arena, (count + 1) * sizeof *item->params);
    if (!item->params) {
        filing->out_of_memory = true;
        return;
    }
    item->reads = symbol->reads;
    item->writes = symbol->writes;
    item->variadic = symbol->variadic;
    for (uint32_t i = 0; i < count; i++)
        item->params[i] = (struct layout_param){symbol->params[i].name, symbol->params[i].type ? symbol->params[i].type->text : ast_text_of("any")};
}

/* ---- one function ---- */

static void lower_start(struct lower *lower, struct filing *filing, struct ast_text package, struct ast_text shown) {
    *lower = (struct lower){.scope = filing->scope, .arena = filing->arena, .diags = filing->diags, .package = package, .shown = shown, .reachable = true};
}

static void lower_end(struct lower *lower, struct filing *filing) {
    filing->out_of_memory |= lower->out_of_memory;
    free(lower->rows);
    free(lower->labels);
    free(lower->table);
    free(lower->written);
    free(lower->loops);
    free(lower->trail);
    free(lower->stack);
    free(lower->temps_busy);
    free(lower->temp_names);
}

static void declare_params(struct lower *lower, const struct ast_node *node, const struct symbol *symbol) {
    uint32_t count = symbol->reads + symbol->writes;
    lower->reads = symbol->reads;
    lower->writes = symbol->writes;
    lower->params = ast_alloc(lower->arena, (count + 1) * sizeof(struct local *));
    lower->write_types = ast_alloc(lower->arena, (count + 1) * sizeof(struct type *));
    if (!lower->params || !lower->write_types) {
        lower->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool read = i < symbol->reads;
        const struct ast_param *written = read ? &node->as.function.reads.at[i] : &node->as.function.writes.at[i - symbol->reads];
        struct local *local = lower_known(lower, written->name);
        if (local) lower_error(lower, written->at, DIAG_SYNTAX, "parameter `%.*s` is declared twice", (int)written->name.length, written->name.at);
        local = lower_local(lower, written->name);
        lower->params[i] = local;
        if (local->declared_at.line) {
            local->read_param = local->read_param && read; /* which one is meant is not known: writing it is no second error */
            local->write_param = local->write_param || !read;
            continue;
        }
        local->declared_at = written->at;
        local->read_param = read;
        local->write_param = !read;
        local->variadic = written->variadic;
        if (!written->variadic) local->declared = symbol->params[i].type && symbol->params[i].type->any ? NULL : symbol->params[i].type;
        else if (symbol->params[i].type && symbol->params[i].type->scalar) /* its arguments always form an array */
            local->flow = types_of(&lower->scope->types, scope_join(lower->scope, ast_text_of("[]"), "", symbol->params[i].type->text), NULL);
        if (!read) lower->write_types[i - symbol->reads] = symbol->params[i].type;
    }
}

static void finish_rows(struct lower *lower, struct layout_item *item, struct ast_pos close) {
    lower->at = close;
    lower_row(lower, "return", lower->stack_count, NULL, 0);
    lower_tidy(lower, item);
}

static void warn_unused(struct lower *lower) {
    if (!lower->params) return;
    for (uint32_t i = lower->reads; i < lower->reads + lower->writes; i++) {
        struct local *local = lower->params[i];
        if (!local->written && !local->addressed)
            diag_warning(lower->diags, local->declared_at, "write parameter `%.*s` is never written", (int)local->name.length, local->name.at);
    }
}

static void file_function(struct filing *filing, struct ast_text package, const struct ast_node *node) {
    struct ast_text path = scope_path(filing->scope, package, node->as.function.name);
    struct symbol *symbol = scope_find(filing->scope, path);
    if (!symbol || symbol->node != node) return; /* declared twice: reported */
    struct layout_item *item = add_item(filing, ITEM_FUNCTION);
    if (!item) return;
    item->path = path;
    item->source = node->as.function.source;
    item->doc = node->as.function.doc;
    item->line = node->at.line;
    item->column = node->at.column;
    item_params(filing, item, symbol);
    if (symbol->tree_opcode)
        diag_warning(filing->diags, node->as.function.name_at, "`%.*s` hides the opcode of that name", (int)node->as.function.name.length, node->as.function.name.at);
    if (package.length && scope_find(filing->scope, scope_path(filing->scope, NO_TEXT, node->as.function.name))) {
        struct symbol *hidden = scope_find(filing->scope, scope_path(filing->scope, NO_TEXT, node->as.function.name));
        if (hidden && hidden->kind == FOUND_OPCODE)
            diag_warning(filing->diags, node->as.function.name_at, "`%.*s` hides the opcode of that name in this lib", (int)node->as.function.name.length,
                node->as.function.name.at);
    }
    struct lower lower;
    lower_start(&lower, filing, package, scope_shown(symbol));
    declare_params(&lower, node, symbol);
    lower_survey(&lower, &node->as.function.block.body);
    lower_infer(&lower, &node->as.function.block.body);
    lower_block(&lower, &node->as.function.block.body);
    warn_unused(&lower);
    finish_rows(&lower, item, node->as.function.block.close);
    lower_end(&lower, filing);
}

static void file_rwir(struct filing *filing, struct ast_text package, const struct ast_node *node) {
    struct ast_text name = node->as.function.name;
    bool qualified = false;
    for (uint32_t i = 0; i + 1 < name.length; i++) qualified |= memcmp(name.at + i, "\xc2\xb7", 2) == 0;
    struct ast_text path = scope_path(filing->scope, qualified ? NO_TEXT : package, name);
    struct symbol *symbol = scope_find(filing->scope, path);
    struct layout_item *item = symbol && symbol->node == node ? add_item(filing, ITEM_RWIR) : NULL;
    if (!item) return;
    item->path = path;
    item->source = node->as.function.source;
    item->doc = node->as.function.doc;
    item_params(filing, item, symbol);
    struct lower lower; /* only for duplicate names */
    lower_start(&lower, filing, package, scope_shown(symbol));
    declare_params(&lower, node, symbol);
    lower_end(&lower, filing);
}

static void file_struct(struct filing *filing, struct ast_text package, const struct ast_node *node) {
    struct ast_text path = scope_path(filing->scope, package, node->as.structure.name);
    struct symbol *symbol = scope_find(filing->scope, path);
    struct layout_item *item = symbol && symbol->node == node ? add_item(filing, ITEM_STRUCT) : NULL;
    if (!item) return;
    item->path = path;
    item->doc = node->as.structure.doc;
    item->source = node->as.structure.source;
    item_params(filing, item, symbol);
    item->defaults = ast_alloc(filing->arena, (symbol->writes + 1) * sizeof *item->defaults);
    if (!item->defaults) {
        filing->out_of_memory = true;
        return;
    }
    struct lower lower;
    lower_start(&lower, filing, package, scope_shown(symbol));
    for (uint32_t i = 0; i < symbol->writes; i++) {
        const struct ast_field *field = &node->as.structure.fields[i];
        for (uint32_t j = 0; j < i && j < 256; j++)
            if (ast_text_equal(node->as.structure.fields[j].name, field->name)) {
                lower_error(&lower, field->at, DIAG_SYNTAX, "field `%.*s` is declared twice", (int)field->name.length, field->name.at);
                break;
            }
        lower_blame(&lower, "field `%.*s` of `%.*s`", (int)field->name.length, field->name.at, (int)lower.shown.length, lower.shown.at);
        if (field->value) lower_default(&lower, field->value, symbol->params[i].type, &item->defaults[i]);
    }
    scope_check_defaults(filing->scope, symbol);
    lower_end(&lower, filing);
}

/* ---- the whole file ---- */

static struct init *init_of(struct filing *filing, struct ast_text package) {
    for (uint32_t i = filing->init_count; i-- > 0;)
        if (ast_text_equal(filing->inits[i].package, package)) return &filing->inits[i];
    if (filing->init_count == filing->init_room) {
        uint32_t room = filing->init_room ? filing->init_room * 2 : 16;
        struct init *inits = ast_alloc(filing->arena, room * sizeof *inits);
        if (!inits) {
            filing->out_of_memory = true;
            return NULL;
        }
        if (filing->init_count) memcpy(inits, filing->inits, filing->init_count * sizeof *inits);
        filing->inits = inits;
        filing->init_room = room;
    }
    filing->inits[filing->init_count] = (struct init){.package = package};
    return &filing->inits[filing->init_count++];
}

static void add_instruction(struct filing *filing, struct ast_text package, struct ast_node *node) {
    struct init *init = init_of(filing, package);
    if (!init) return;
    if (init->body.count == init->room) {
        uint32_t room = init->room ? init->room * 2 : 16;
        struct ast_node **at = ast_alloc(filing->arena, room * sizeof(struct ast_node *));
        if (!at) {
            filing->out_of_memory = true;
            return;
        }
        if (init->body.count) memcpy(at, init->body.at, init->body.count * sizeof(struct ast_node *));
        init->body.at = at;
        init->room = room;
    }
    init->body.at[init->body.count++] = node;
}

static void file_items(struct filing *filing, struct ast_text package, const struct ast_nodes *items) {
    for (uint32_t i = 0; i < items->count; i++) {
        struct ast_node *node = items->at[i];
        switch (node->kind) {
        case AST_FUNCTION: file_function(filing, package, node); break;
        case AST_RWIR: file_rwir(filing, package, node); break;
        case AST_STRUCT: file_struct(filing, package, node); break;
        case AST_LIB: {
            struct ast_text name = node->as.lib.name;
            file_items(filing, package.length ? scope_join(filing->scope, package, "/", name) : name, &node->as.lib.block.body);
            break;
        }
        default: add_instruction(filing, package, node);
        }
    }
}

/* From where to where a statement is written: parentheses around what it begins with are not in its node. */
static void statement_bounds(const struct ast_file *file, const struct ast_node *node, uint32_t *from, uint32_t *to) {
    uint32_t low = 0, high = file->paren_count;
    *from = node->at.offset;
    *to = node->end;
    while (low < high) { /* the parentheses that open before it */
        uint32_t middle = low + (high - low) / 2;
        if (file->parens[middle].open.offset < node->at.offset) low = middle + 1;
        else high = middle;
    }
    for (; low && file->parens[low - 1].close.offset >= node->at.offset; low--) {
        *from = file->parens[low - 1].open.offset;
        if (file->parens[low - 1].close.offset >= *to) *to = file->parens[low - 1].close.offset + 1;
    }
}

/* The text of the bare instructions, for `‥src`: a statement a line as it was written. */
static struct ast_text init_source(struct filing *filing, const struct init *init, const struct ast_file *file) {
    size_t bytes = 1;
    uint32_t from, to, used = 0;
    for (uint32_t i = 0; i < init->body.count; i++) {
        statement_bounds(file, init->body.at[i], &from, &to);
        bytes += to - from + 1;
    }
    char *text = bytes < SCAN_MAX_BYTES ? ast_alloc(filing->arena, bytes) : NULL;
    if (!text) {
        filing->out_of_memory = true;
        return NO_TEXT;
    }
    for (uint32_t i = 0; i < init->body.count; i++) {
        statement_bounds(file, init->body.at[i], &from, &to);
        memcpy(text + used, file->source.at + from, to - from);
        used += to - from;
        text[used++] = '\n';
    }
    return (struct ast_text){text, used};
}

static void file_init(struct filing *filing, const struct init *init, const struct ast_file *file) {
    if (!init->body.at) return; /* without memory for its first instruction */
    struct ast_text path = scope_path(filing->scope, init->package, ast_text_of("init"));
    struct symbol *symbol = scope_find(filing->scope, path);
    struct ast_pos first = init->body.at[0]->at;
    if (symbol && symbol->node) {
        diag_error(filing->diags, DIAG_SYNTAX, symbol->node->as.function.name_at, "`init` is made of the bare instructions of %s, which has some",
            init->package.length ? "the lib" : "the file");
        diag_note(filing->diags, "the first bare instruction is on line %u", (unsigned)first.line);
        return;
    }
    struct layout_item *item = add_item(filing, ITEM_FUNCTION);
    if (!item) return;
    item->is_init = true;
    item->path = path;
    item->line = first.line;
    item->column = first.column;
    item->params = ast_alloc(filing->arena, sizeof *item->params);
    item->source = init_source(filing, init, file);
    if (!init->package.length) filing->unit->has_init = true;
    struct lower lower;
    lower_start(&lower, filing, init->package, (struct ast_text){path.at + 5, path.length - 5});
    lower_survey(&lower, &init->body);
    lower_infer(&lower, &init->body);
    lower_block(&lower, &init->body);
    finish_rows(&lower, item, init->body.at[init->body.count - 1]->at);
    lower_end(&lower, filing);
}

static bool is_parent(struct ast_text parent, struct ast_text child) {
    return child.length > parent.length && memcmp(parent.at, child.at, parent.length) == 0 && child.at[parent.length] == '/';
}

/* Parents before children, else in the order of the file: each lib is put before the first of its children that came earlier. */
static void order_inits(struct filing *filing) {
    struct layout_unit *unit = filing->unit;
    unit->inits = ast_alloc(filing->arena, (filing->init_count + 1) * sizeof *unit->inits);
    struct ast_text *order = ast_alloc(filing->arena, (filing->init_count + 1) * sizeof *order);
    if (!unit->inits || !order) {
        filing->out_of_memory = true;
        return;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < filing->init_count; i++) {
        struct ast_text package = filing->inits[i].package;
        if (!package.length) continue;
        uint32_t at = 0;
        while (at < count && !is_parent(package, order[at])) at++;
        memmove(order + at + 1, order + at, (count - at) * sizeof *order);
        order[at] = package;
        count++;
    }
    for (uint32_t i = 0; i < count; i++) unit->inits[unit->init_count++] = scope_path(filing->scope, order[i], ast_text_of("init"));
}

int lower_file(struct ast_arena *arena, struct diag_list *diags, const struct ast_file *file, const struct layout_tree *tree,
               struct layout_unit *unit) {
    struct scope scope;
    struct filing filing = {.scope = &scope, .arena = arena, .diags = diags, .unit = unit};
    *unit = (struct layout_unit){.file = file->name};
    int rc = LAYOUT_NO_MEMORY;
    if (scope_start(&scope, arena, diags, tree)) {
        scope_declare(&scope, file);
        file_items(&filing, NO_TEXT, &file->items);
        for (uint32_t i = 0; i < filing.init_count; i++) file_init(&filing, &filing.inits[i], file);
        order_inits(&filing);
        rc = scope.failed ? scope.failed : filing.out_of_memory ? LAYOUT_NO_MEMORY : 0;
    }
    scope_end(&scope);
    return rc;
}
