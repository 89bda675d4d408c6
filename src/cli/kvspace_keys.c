/* Keys as people type and see them: see kvspace_tool.h. Relies on kvspace_key_check and kvspace_key_from_ascii. */
#include "cli/kvspace_tool.h"

#include <string.h>

#define MEMBER_DOT "\xc2\xb7"     /* · */
#define SYSTEM_DOTS "\xe2\x80\xa5" /* ‥ */

/* `/..name` to `/‥name`; a step that is only `..` stays, and the check tells. False where it does not fit. */
static bool take_system_dots(const char *typed, char *key) {
    size_t at = 0;
    while (*typed) {
        const char *piece = typed;
        size_t bytes = 1;
        bool system = typed[0] == '/' && typed[1] == '.' && typed[2] == '.' && typed[3] && typed[3] != '/';
        if (system) {
            piece = "/" SYSTEM_DOTS;
            bytes = 4;
        }
        if (at + bytes > KVSPACE_KEY_MAX) return false;
        memcpy(key + at, piece, bytes);
        at += bytes;
        typed += system ? 3 : 1;
    }
    key[at] = '\0';
    return true;
}

/* A relative key of the prompt: `..` goes up, `.` stays, `·x` is a member of the base, the rest is below it. */
static bool absolute(const struct tool *tool, const char *typed, char *out) {
    char base[KVSPACE_KEY_MAX + 1];
    snprintf(base, sizeof base, "%s", tool->base);
    while (typed[0] == '.' && (typed[1] == '/' || !typed[1] || (typed[1] == '.' && (typed[2] == '/' || !typed[2])))) {
        bool up = typed[1] == '.';
        if (up) {
            size_t parent = kvspace_key_parent(base);
            base[parent ? parent : 1] = '\0';
        }
        typed += up ? 2 : 1;
        while (*typed == '/') typed++;
    }
    bool member = strncmp(typed, MEMBER_DOT, 2) == 0;
    const char *between = !*typed || member || strcmp(base, "/") == 0 ? "" : "/";
    int length = snprintf(out, 2 * KVSPACE_KEY_MAX, "%s%s%s", base, between, typed);
    return length >= 0 && length <= KVSPACE_KEY_MAX + 16;
}

enum tool_status tool_key(struct tool *tool, const char *typed, char *key) {
    char whole[2 * KVSPACE_KEY_MAX];
    if (strlen(typed) > KVSPACE_KEY_MAX)
        return tool_fail(tool, TOOL_USAGE, "%s: a key has at most %d bytes, this one has %zu", tool->command, KVSPACE_KEY_MAX,
                         strlen(typed));
    snprintf(whole, sizeof whole, "%s", typed);
    if (tool->base[0] && typed[0] != '/' && !absolute(tool, typed, whole))
        return tool_fail(tool, TOOL_USAGE, "%s: the key is too long", tool->command);
    size_t length = strlen(whole);
    if (length > 1 && whole[length - 1] == '/') whole[length - 1] = '\0';
    struct kvspace_problem problem = {0};
    int rc = 0;
    if (tool->ascii) rc = kvspace_key_from_ascii(whole, key);
    else if (!take_system_dots(whole, key)) rc = KVSPACE_ELIMIT;
    if (!rc) rc = kvspace_key_check(key, &problem);
    if (!rc) return TOOL_OK;
    if (typed[0] != '/')
        return tool_fail(tool, TOOL_USAGE, "%s: a key begins with `/`: %s (did you mean /%s?)", tool->command, typed, typed);
    return tool_fail(tool, TOOL_USAGE, "%s: not a key: %s: %s", tool->command, typed,
                     problem.message[0] ? problem.message : kvspace_strerror(rc));
}

int tool_key_append(char *key, const char *text) {
    size_t length = strlen(key);
    size_t at = length == 1 && text[0] == '/' ? 0 : length; /* "/" + "/lib" is "/lib" */
    if (at + strlen(text) > KVSPACE_KEY_MAX) return -1;
    memmove(key + at, text, strlen(text) + 1);
    return (int)length;
}

void tool_key_cut(char *key, int length) {
    if (length == 1) key[0] = '/';
    key[length] = '\0';
}

const char *tool_key_text(const struct tool *tool, const char *key, size_t length, char *out) {
    if (length > KVSPACE_KEY_MAX) length = KVSPACE_KEY_MAX;
    size_t at = 0;
    for (size_t i = 0; i < length;) {
        bool dots = tool->ascii && length - i >= 3 && memcmp(key + i, SYSTEM_DOTS, 3) == 0;
        bool dot = tool->ascii && length - i >= 2 && memcmp(key + i, MEMBER_DOT, 2) == 0;
        if (dots) out[at++] = '.';
        if (dots || dot) out[at++] = '.';
        else out[at++] = key[i];
        i += dots ? 3 : dot ? 2 : 1;
    }
    out[at] = '\0';
    return out;
}

void tool_show_key(struct tool *tool, struct sink *sink, enum sink_style style, const char *text, size_t length) {
    char shown[KVSPACE_KEY_MAX + 1];
    tool_key_text(tool, text, length, shown);
    sink_one_line(sink, style, shown, strlen(shown));
}
