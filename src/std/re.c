/* re·: regular expressions through PCRE2. Relies on pieces.h. Promises: compiled patterns are kept (the RE_KEPT used last); a match that
 * needs more than RE_STEPS steps or RE_HEAP_KIB of memory is a ValueError, so no pattern runs for ever. */
#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/re.def"
#undef NATIVE

#ifdef KVLANG_HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "kvspace/utf8.h"

enum { RE_KEPT = 32, RE_STEPS = 5000000, RE_HEAP_KIB = 65536 };

struct kept_pattern {
    char *text;
    size_t length;
    pcre2_code *code;
    pcre2_match_data *found;
    uint64_t used; /* when, counted */
};

struct re_kept {
    struct kept_pattern patterns[RE_KEPT];
    uint64_t clock;
    pcre2_match_context *limits;
};

void *re_open(void) {
    struct re_kept *kept = calloc(1, sizeof *kept);
    return kept;
}

static void pattern_drop(struct kept_pattern *pattern) {
    free(pattern->text);
    pcre2_code_free(pattern->code);
    pcre2_match_data_free(pattern->found);
    *pattern = (struct kept_pattern){0};
}

void re_close(void *opened) {
    struct re_kept *kept = opened;
    if (!kept) return;
    for (int i = 0; i < RE_KEPT; i++) pattern_drop(&kept->patterns[i]);
    pcre2_match_context_free(kept->limits);
    free(kept);
}

static int no_memory(struct core_call *call) { return fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory", call->row->name); }

static int limits_make(struct core_call *call, struct re_kept *kept) {
    if (kept->limits) return 0;
    kept->limits = pcre2_match_context_create(NULL);
    if (!kept->limits) return no_memory(call);
    pcre2_set_match_limit(kept->limits, RE_STEPS);
    pcre2_set_depth_limit(kept->limits, RE_STEPS);
    pcre2_set_heap_limit(kept->limits, RE_HEAP_KIB);
    return 0;
}

static int compile(struct core_call *call, const struct piece *text, struct kept_pattern *pattern) {
    int error;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)text->bytes, text->length, PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, NULL);
    if (!code) {
        PCRE2_UCHAR reason[160] = "";
        pcre2_get_error_message(error, reason, sizeof reason);
        return fault(call->heap, ERROR_VALUE, "%s: the pattern has an error at character %zu: %s", call->row->name, utf8_count(text->bytes, at) + 1, (const char *)reason);
    }
    pattern_drop(pattern);
    pattern->code = code;
    pattern->text = malloc(text->length + 1);
    pattern->found = pcre2_match_data_create_from_pattern(code, NULL);
    pattern->length = text->length;
    if (!pattern->text || !pattern->found) {
        pattern_drop(pattern);
        return no_memory(call);
    }
    memcpy(pattern->text, text->bytes, text->length);
    return 0;
}

/* The compiled pattern that argument 1 is. */
static int pattern_of(struct core_call *call, struct kept_pattern **out) {
    struct re_kept *kept = call->host;
    struct piece text;
    int rc = limits_make(call, kept);
    if (!rc) rc = piece_text(call, 1, &text);
    if (rc) return rc;
    struct kept_pattern *oldest = &kept->patterns[0], *found = NULL;
    for (int i = 0; i < RE_KEPT && !found; i++) {
        struct kept_pattern *pattern = &kept->patterns[i];
        if (pattern->text && pattern->length == text.length && memcmp(pattern->text, text.bytes, text.length) == 0) found = pattern;
        else if (pattern->used < oldest->used) oldest = pattern;
    }
    if (!found) {
        rc = compile(call, &text, oldest);
        found = oldest;
    }
    piece_free(&text);
    if (rc) return rc;
    found->used = ++kept->clock;
    *out = found;
    return 0;
}

/* One walk over the matches in a subject. */
struct search {
    struct core_call *call;
    struct kept_pattern *pattern;
    struct piece subject;
    const PCRE2_SIZE *at; /* begin and end of the match, then of its groups */
    uint32_t groups;
    PCRE2_SIZE next;
    uint32_t options;
    bool over;
};

static int search_begin(struct core_call *call, struct search *search) {
    *search = (struct search){.call = call};
    int rc = pattern_of(call, &search->pattern);
    if (!rc) rc = piece_text(call, 0, &search->subject);
    return rc;
}

static int match_error(struct core_call *call, int error) {
    PCRE2_UCHAR reason[160] = "";
    if (error == PCRE2_ERROR_MATCHLIMIT || error == PCRE2_ERROR_DEPTHLIMIT || error == PCRE2_ERROR_HEAPLIMIT)
        return fault(call->heap, ERROR_VALUE, "%s: the pattern needs too many steps for this text", call->row->name);
    pcre2_get_error_message(error, reason, sizeof reason);
    return fault(call->heap, error == PCRE2_ERROR_NOMEMORY ? ERROR_OUT_OF_MEMORY : ERROR_VALUE, "%s: %s", call->row->name, (const char *)reason);
}

/* The next match; *found false at the end. After an empty match the next one begins further right, or is not empty. */
static int search_next(struct search *search, bool *found) {
    const struct re_kept *kept = search->call->host;
    const struct piece *subject = &search->subject;
    *found = false;
    while (!search->over) {
        int count = pcre2_match(search->pattern->code, (PCRE2_SPTR)subject->bytes, subject->length, search->next, search->options | (search->next ? PCRE2_NO_UTF_CHECK : 0),
                                search->pattern->found, kept->limits);
        if (count == PCRE2_ERROR_NOMATCH && search->options) {
            uint32_t point = 0;
            if (search->next >= subject->length) break;
            search->next += utf8_decode(subject->bytes + search->next, subject->length - search->next, &point);
            search->options = 0;
            continue;
        }
        if (count == PCRE2_ERROR_NOMATCH) break;
        if (count < 0) return match_error(search->call, count);
        search->at = pcre2_get_ovector_pointer(search->pattern->found);
        search->groups = pcre2_get_ovector_count(search->pattern->found);
        if (search->at[0] > search->at[1]) return fault(search->call->heap, ERROR_VALUE, "%s: \\K must not put the begin of a match behind its end", search->call->row->name);
        if (search->at[1] < search->next) return fault(search->call->heap, ERROR_VALUE, "%s: the pattern goes backwards", search->call->row->name);
        search->next = search->at[1];
        search->options = search->at[0] == search->at[1] ? PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED : 0;
        *found = true;
        return 0;
    }
    search->over = true;
    return 0;
}

static int re_find(struct core_call *call) {
    struct search search;
    int64_t from = 0;
    bool found = false;
    int rc = call->arg_count > 2 ? native_int64(call, 2, &from) : 0;
    if (!rc) rc = search_begin(call, &search);
    if (rc) return rc;
    int64_t length = (int64_t)utf8_count(search.subject.bytes, search.subject.length);
    if (from < 0) from = from + length > 0 ? from + length : 0;
    if (from <= length) {
        search.next = utf8_position(search.subject.bytes, search.subject.length, (size_t)from);
        rc = search_next(&search, &found);
    }
    if (!rc) call->results[0] = cell_int64(found ? (int64_t)utf8_count(search.subject.bytes, search.at[0]) : -1);
    piece_free(&search.subject);
    return rc;
}

static int re_match(struct core_call *call) {
    struct search search;
    struct cell map = cell_none();
    bool found = false;
    int rc = search_begin(call, &search);
    if (rc) return rc;
    rc = search_next(&search, &found);
    if (!rc && found) {
        rc = members_begin(call->heap, "[int64]·[]char/utf32", &map);
        for (uint32_t i = 0; i < search.groups && !rc; i++) {
            PCRE2_SIZE begin = search.at[2 * (size_t)i], end = search.at[2 * (size_t)i + 1];
            if (begin != PCRE2_UNSET) rc = item_text(call->heap, rc, &map, i, search.subject.bytes + begin, end - begin);
        }
    }
    if (!rc) call->results[0] = map;
    piece_free(&search.subject);
    return rc;
}

/* The matches themselves, or the parts between them. */
static int list_matches(struct core_call *call, bool between) {
    struct search search;
    struct cell map = cell_none();
    size_t last = 0;
    int64_t count = 0;
    bool found = true;
    int rc = search_begin(call, &search);
    if (rc) return rc;
    rc = members_begin(call->heap, "[int64]·[]char/utf32", &map);
    while (!rc) {
        rc = search_next(&search, &found);
        if (rc || !found) break;
        const char *bytes = search.subject.bytes;
        if (!between) {
            rc = item_text(call->heap, rc, &map, count++, bytes + search.at[0], search.at[1] - search.at[0]);
        } else if (search.at[1] > search.at[0] || (search.at[0] > 0 && search.at[0] < search.subject.length)) {
            rc = item_text(call->heap, rc, &map, count++, bytes + last, search.at[0] - last);
            last = search.at[1];
        }
    }
    if (!rc && between) rc = item_text(call->heap, rc, &map, count, search.subject.bytes + last, search.subject.length - last);
    if (rc) cell_drop(call->heap, map);
    else call->results[0] = map;
    piece_free(&search.subject);
    return rc;
}

static int re_findall(struct core_call *call) { return list_matches(call, false); }
static int re_split(struct core_call *call) { return list_matches(call, true); }

/* ---- replacing ---- */

/* The group that begins behind a dollar sign, ${name}, ${1} or $1: its number and how many bytes it takes; -1 where there is none. */
static int group_of(struct core_call *call, const struct kept_pattern *pattern, const char *text, size_t length, size_t *taken) {
    char name[64] = "";
    size_t used = 0;
    bool braces = length > 0 && text[0] == '{';
    size_t at = braces ? 1 : 0;
    while (at < length && used + 1 < sizeof name && (braces ? text[at] != '}' : text[at] >= '0' && text[at] <= '9')) name[used++] = text[at++];
    name[used] = '\0';
    bool closed = !braces || (at < length && text[at] == '}');
    *taken = at + braces;
    uint32_t groups = 0;
    pcre2_pattern_info(pattern->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    int number = -1;
    if (used && closed && strspn(name, "0123456789") == used && used < 6) number = (int)strtol(name, NULL, 10);
    else if (used && closed) number = pcre2_substring_number_from_name(pattern->code, (PCRE2_SPTR)name);
    if (number >= 0 && (uint32_t)number <= groups) return number;
    fault_set(call->heap, ERROR_VALUE, "re·replace: the pattern has no group \"$%.*s\" ($$ is a dollar sign)", (int)(*taken < length ? *taken : length), text);
    return -1;
}

static int expand(struct search *search, const struct piece *by, struct text_out *out) {
    for (size_t i = 0; i < by->length; i++) {
        size_t taken;
        if (by->bytes[i] != '$') {
            text_put(out, by->bytes + i, 1);
        } else if (i + 1 < by->length && by->bytes[i + 1] == '$') {
            text_put(out, "$", 1);
            i++;
        } else {
            int group = group_of(search->call, search->pattern, by->bytes + i + 1, by->length - i - 1, &taken);
            if (group < 0) return search->call->heap->fault.kind;
            PCRE2_SIZE begin = search->at[2 * group], end = search->at[2 * group + 1];
            if (begin != PCRE2_UNSET) text_put(out, search->subject.bytes + begin, end - begin);
            i += taken;
        }
    }
    return 0;
}

static int re_replace(struct core_call *call) {
    struct search search;
    struct piece by;
    struct text_buffer buffer = {0};
    struct text_out out = text_buffer_out(&buffer);
    size_t last = 0;
    bool found = true;
    int rc = search_begin(call, &search);
    if (rc) return rc;
    rc = piece_text(call, 2, &by);
    if (rc) {
        piece_free(&search.subject);
        return rc;
    }
    while (!rc) {
        rc = search_next(&search, &found);
        if (rc || !found) break;
        text_put(&out, search.subject.bytes + last, search.at[0] - last);
        last = search.at[1];
        rc = expand(&search, &by, &out);
    }
    text_put(&out, search.subject.bytes + last, search.subject.length - last);
    if (!rc && out.error) rc = no_memory(call);
    if (!rc) rc = give_text(call, buffer.bytes, buffer.length);
    text_buffer_free(&buffer);
    piece_free(&by);
    piece_free(&search.subject);
    return rc;
}

#else /* without PCRE2 */

static int missing(struct core_call *call) {
    return fault(call->heap, ERROR_RUNTIME, "%s: this kvlang was built without PCRE2", call->row->name);
}
static int re_find(struct core_call *call) { return missing(call); }
static int re_findall(struct core_call *call) { return missing(call); }
static int re_match(struct core_call *call) { return missing(call); }
static int re_replace(struct core_call *call) { return missing(call); }
static int re_split(struct core_call *call) { return missing(call); }

void *re_open(void) { return calloc(1, 1); }
void re_close(void *kept) { free(kept); }

#endif

const struct native_row re_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/re.def"
#undef NATIVE
};
const uint32_t re_count = sizeof re_rows / sizeof *re_rows;
