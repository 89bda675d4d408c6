/* Literals into the tree (kvspace.h): kvspace_set_literal, kvspace_parse_literal.
 * Relies on literal.h to parse and on the stage (tree.h) to make a container appear in one step.
 * Promises: what does not fit the tree (a key of a map that cannot be a step) is refused before anything is changed; depth is
 * the parser's. */
#include "kvspace/api.h"
#include "kvspace/kinds.h"
#include "kvspace/literal.h"
#include "kvspace/numtext.h"
#include "kvspace/path.h"
#include "kvspace/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(struct kvspace_problem *problem, int code, size_t position, const char *message) {
    if (problem) {
        problem->position = position;
        snprintf(problem->message, sizeof problem->message, "%s", message);
    }
    return code;
}

static int code_of(int status) {
    switch (status) {
    case LITERAL_OK: return 0;
    case LITERAL_ETYPE: return KVSPACE_ETYPE;
    case LITERAL_EVALUE: return KVSPACE_EVALUE;
    case LITERAL_ELIMIT: return KVSPACE_ELIMIT;
    case LITERAL_ENOMEM: return KVSPACE_ENOMEM;
    default: return KVSPACE_ESYNTAX;
    }
}

/* ---- words of the tree: name(text) ---- */

struct word {
    const char *type;
    size_t type_bytes;
    const char *text; /* between the parentheses */
    size_t text_bytes;
};

/* opcode(add), def rwir(1,1,0,0), provider/x(…): a word, then everything up to the last parenthesis. */
static bool is_word(const char *text, size_t bytes, struct word *word) {
    static const char *const words[] = {"rwfunc", "def rwir", "def struct", "opcode", "name", "param", "none"};
    while (bytes && (text[bytes - 1] == ' ' || text[bytes - 1] == '\n')) bytes--;
    while (bytes && (*text == ' ' || *text == '\n')) text++, bytes--;
    const char *open = memchr(text, '(', bytes);
    if (!open || text[bytes - 1] != ')') return false;
    *word = (struct word){text, (size_t)(open - text), open + 1, (size_t)(text + bytes - 1 - (open + 1))};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == word->type_bytes && memcmp(words[i], text, word->type_bytes) == 0) return true;
    return word->type_bytes > 9 && memcmp(text, "provider/", 9) == 0;
}

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

/* The body of a word: numbers, x"hex", or the text as it is. `body` has room for 4 bytes a byte of the text. */
static bool word_body(const struct word *word, unsigned char *body, size_t *bytes) {
    const char *text = word->text;
    size_t count = word->text_bytes;
    *bytes = 0;
    if (print_word_is_numbers(word->type, word->type_bytes)) {
        for (size_t at = 0; at < count;) {
            uint64_t number = 0;
            size_t begin = at;
            while (at < count && text[at] >= '0' && text[at] <= '9' && number <= UINT32_MAX) number = number * 10 + (uint64_t)(text[at++] - '0');
            if (at == begin || number > UINT32_MAX || (at < count && text[at] != ',')) return false;
            uint32_t word32 = (uint32_t)number;
            memcpy(body + *bytes, &word32, 4);
            *bytes += 4;
            if (at < count && ++at == count) return false;
        }
        return true;
    }
    if (count >= 3 && text[0] == 'x' && text[1] == '"' && text[count - 1] == '"') {
        if (count % 2 == 0) return false;
        for (size_t at = 2; at + 1 < count; at += 2) {
            int high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
            if (high < 0 || low < 0) return false;
            body[(*bytes)++] = (unsigned char)(high << 4 | low);
        }
        return true;
    }
    memcpy(body, text, count);
    *bytes = count;
    return true;
}

/* A value of its own from a word's text. */
static int parse_word(const struct word *word, struct kvspace_value **out, struct kvspace_problem *problem) {
    size_t bytes;
    unsigned char *body = malloc(word->text_bytes * 4 + 4);
    if (!body) return refuse(problem, KVSPACE_ENOMEM, 0, "out of memory");
    if (!word_body(word, body, &bytes)) {
        free(body);
        return refuse(problem, KVSPACE_ESYNTAX, word->type_bytes + 1, "numbers separated by commas, or x\"hexadecimal\", are expected");
    }
    struct kvspace_value value = {.store = KVSPACE_ATOM, .type = word->type, .body = body, .body_bytes = bytes};
    value.type_bytes = (uint32_t)word->type_bytes;
    int rc = kvspace_value_clone(&value, out);
    free(body);
    return rc ? refuse(problem, rc, 0, "out of memory") : 0;
}

/* ---- values of a parsed tree ---- */

/* The head of a literal; a container's members are not in it. */
static struct kvspace_value head_of(const struct literal *literal) {
    struct kvspace_value value = {0};
    switch (literal->class) {
    case LITERAL_SCALAR: return kvspace_value_scalar((enum kvspace_kind)literal->kind, literal->body);
    case LITERAL_TEXT:
        value = kvspace_value_array((enum kvspace_kind)literal->kind, 0, NULL, literal->body);
        value.ndim = 1;
        value.body_bytes = literal->body_bytes;
        return value;
    case LITERAL_ARRAY:
        value = kvspace_value_array((enum kvspace_kind)literal->kind, literal->ndim, literal->dims, literal->body);
        value.body_bytes = literal->body_bytes;
        return value;
    case LITERAL_POINTER:
        value = kvspace_value_pointer(literal->text);
        value.body_bytes = literal->text_bytes;
        value.type = literal->type[0] == '*' ? literal->type + 1 : "";
        if (strcmp(value.type, "any") == 0) value.type = "";
        return value;
    case LITERAL_MAP:
    case LITERAL_STRUCT:
        value.store = KVSPACE_INDEX;
        value.type = literal->type;
        value.type_bytes = (uint32_t)strlen(literal->type);
        return value;
    default: return value;
    }
}

/* The step of a member: a text as it is, a scalar or tuple as it prints. */
static int step_of_key(const struct literal *key, char *out, size_t capacity, size_t *bytes) {
    struct text_buffer buffer = {.limit = KVSPACE_STEP_MAX + 1};
    struct text_out text = text_buffer_out(&buffer);
    if (key->class == LITERAL_TEXT) text_put(&text, key->text, key->text_bytes);
    else if (key->class == LITERAL_SCALAR) literal_print_scalar((enum kv_kind)key->kind, key->body, &text);
    else {
        const char *separator = "[";
        for (const struct literal_entry *entry = key->entries; entry; entry = entry->next) {
            text_puts(&text, separator);
            literal_print_scalar((enum kv_kind)entry->value->kind, entry->value->body, &text);
            separator = ",";
        }
        text_puts(&text, "]");
    }
    int rc = text.error || !buffer.bytes || !path_name_is_valid(KVSPACE_STEP_MEMBER, buffer.bytes, buffer.length) ||
             buffer.length >= capacity ? KVSPACE_EVALUE : 0;
    if (!rc) {
        memcpy(out, buffer.bytes, buffer.length + 1);
        *bytes = buffer.length;
    }
    text_buffer_free(&buffer);
    return rc;
}

/* Sets the value and its members at the key in `key`, which is `key_bytes` long and has room for the longest. Depth is bounded by the parser. */
static int build(kvspace *space, char *key, size_t key_bytes, const struct literal *literal, struct kvspace_problem *problem) {
    struct kvspace_value head = head_of(literal);
    int rc = literal->class == LITERAL_NONE ? 0 : kvspace_set(space, key, &head);
    if (rc) return refuse(problem, rc, literal->position, kvspace_message(space));
    if (literal->class != LITERAL_MAP && literal->class != LITERAL_STRUCT) return 0;
    for (const struct literal_entry *entry = literal->entries; entry && !rc; entry = entry->next) {
        char step[KVSPACE_STEP_MAX + 1];
        size_t step_bytes;
        if (step_of_key(entry->key, step, sizeof step, &step_bytes))
            return refuse(problem, KVSPACE_EVALUE, entry->key->position, "this key cannot be a step of the tree");
        if (key_bytes + 2 + step_bytes > KVSPACE_KEY_MAX) return refuse(problem, KVSPACE_ELIMIT, entry->key->position, "the keys get too long");
        memcpy(key + key_bytes, PATH_DOT, 2);
        memcpy(key + key_bytes + 2, step, step_bytes + 1);
        rc = build(space, key, key_bytes + 2 + step_bytes, entry->value, problem);
        key[key_bytes] = 0;
    }
    return rc;
}

/* A container: built on a stage, swapped in. */
static int set_container(kvspace *space, const char *key, const struct literal *literal, struct kvspace_problem *problem) {
    char stage[KVSPACE_KEY_MAX + 1];
    uint32_t staged = 0;
    if (space->is_read_only) return refuse(problem, space_error(space, KVSPACE_EREADONLY, key, NULL), 0, kvspace_message(space));
    int rc = space_begin(space);
    if (!rc) rc = tree_stage(space, stage);
    space_end(space);
    if (!rc) rc = build(space, stage, strlen(stage), literal, problem);
    else refuse(problem, rc, 0, kvspace_strerror(rc));
    if (rc) {
        char message[sizeof space->message];
        memcpy(message, space->message, sizeof message); /* of the failure, not of the cleaning up */
        kvspace_del_tree(space, stage, NULL);
        memcpy(space->message, message, sizeof message);
        return rc;
    }
    rc = space_begin(space);
    if (!rc) rc = tree_lock_key(space, stage, false, &staged);
    if (!rc) {
        mem_unlock(space, &tree_node(space, staged)->lock);
        rc = api_adopt(space, key, stage, staged);
    }
    space_end(space);
    if (!rc) space_wrote(space, key);
    return rc ? refuse(problem, space_error(space, rc, key, NULL), 0, kvspace_message(space)) : 0;
}

/* Below a provider every key is its own affair: one by one. */
static int build_provided(kvspace *space, const char *key, const struct literal *literal, struct kvspace_problem *problem) {
    char place[KVSPACE_KEY_MAX + 1];
    memcpy(place, key, strlen(key) + 1);
    return build(space, place, strlen(key), literal, problem);
}

/* Whether the key is stored, so that the stage can be swapped in there. */
static int is_stored(kvspace *space, const char *key, bool *stored) {
    struct tree_walk walk;
    int rc = space_begin(space);
    if (rc) return rc;
    rc = tree_walk(space, key, &walk);
    *stored = rc || !*walk.at || walk.special_tag != NODE_TAG_PROVIDER;
    space_end(space);
    return rc && rc != KVSPACE_EKEY ? space_error(space, rc, key, NULL) : rc;
}

int kvspace_set_literal(kvspace *space, const char *key, const char *text, size_t text_bytes, struct kvspace_problem *problem) {
    struct literal_document document;
    struct literal_error error;
    struct kvspace_value *value;
    struct word word;
    bool stored;
    if (is_word(text, text_bytes, &word)) {
        int rc = parse_word(&word, &value, problem);
        if (rc) return space_error(space, rc, key, "%s", problem ? problem->message : kvspace_strerror(rc));
        rc = kvspace_set(space, key, value);
        kvspace_value_free(value);
        return rc ? refuse(problem, rc, 0, kvspace_message(space)) : 0;
    }
    int rc = code_of(literal_parse(text, text_bytes, NULL, &document, &error));
    if (rc) {
        refuse(problem, rc, error.position, error.message);
        return space_error(space, rc, key, "byte %zu: %s", error.position, error.message);
    }
    rc = is_stored(space, key, &stored);
    const struct literal *root = document.root;
    if (rc) refuse(problem, rc, 0, kvspace_message(space));
    else if (root->class == LITERAL_MAP || root->class == LITERAL_STRUCT)
        rc = stored ? set_container(space, key, root, problem) : build_provided(space, key, root, problem);
    else {
        struct kvspace_value head = head_of(root);
        rc = kvspace_set(space, key, &head);
        if (rc) refuse(problem, rc, 0, kvspace_message(space));
    }
    literal_document_free(&document);
    return rc;
}

int kvspace_parse_literal(const char *text, size_t text_bytes, struct kvspace_value **value, struct kvspace_problem *problem) {
    struct literal_document document;
    struct literal_error error;
    struct word word;
    if (is_word(text, text_bytes, &word)) return parse_word(&word, value, problem);
    int rc = code_of(literal_parse(text, text_bytes, NULL, &document, &error));
    if (rc) return refuse(problem, rc, error.position, error.message);
    if (document.root->class == LITERAL_MAP || document.root->class == LITERAL_STRUCT)
        rc = refuse(problem, KVSPACE_EUNSUPPORTED, 0, "a container is more than one value");
    else {
        struct kvspace_value head = head_of(document.root);
        uint64_t dims[1] = {head.kind ? head.body_bytes / kind_size(head.kind) : 0};
        if (head.ndim == 1 && !head.dims) head.dims = dims;
        rc = kvspace_value_clone(&head, value);
        if (rc) refuse(problem, rc, 0, "out of memory");
    }
    literal_document_free(&document);
    return rc;
}
