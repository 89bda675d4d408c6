/* http·: requests through libcurl, which is loaded when the first one is made. Relies on pieces.h. Promises: only http and https, also
 * behind redirects; certificates are checked; every request ends, by its time limit at the latest; nothing is left open. */
#include "std/family.h"
#include "std/pieces.h"

#define NATIVE FAMILY_FUNCTION
#include "std/http.def"
#undef NATIVE

#ifdef KVLANG_HAVE_CURL
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>

/* The functions of libcurl that are used: the one table. */
#define CURL_FUNCTIONS(X)                                                                                                                           \
    X(easy_init) X(easy_cleanup) X(easy_setopt) X(easy_perform) X(easy_getinfo) X(easy_strerror) X(slist_append) X(slist_free_all) X(global_init)

struct curl_library {
    bool loaded;
    char reason[160];
#define CURL_FIELD(name) __typeof__(&curl_##name) name;
    CURL_FUNCTIONS(CURL_FIELD)
#undef CURL_FIELD
};

/* Filled once a process, by load_curl under pthread_once, and constant from then on. */
static struct curl_library library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void load_curl(void) {
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib", "libcurl.so"};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++) handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(library.reason, sizeof library.reason, "libcurl is not installed");
        return;
    }
    bool all = true;
    void *symbol;
#define CURL_LOAD(name)                                              \
    symbol = dlsym(handle, "curl_" #name);                           \
    all = all && symbol;                                             \
    memcpy(&library.name, &symbol, sizeof symbol);
    CURL_FUNCTIONS(CURL_LOAD)
#undef CURL_LOAD
    if (all && library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) library.loaded = true;
    else snprintf(library.reason, sizeof library.reason, "the libcurl that is installed is not usable");
}

enum { HTTP_TIMEOUT = 30000, HTTP_REDIRECTS = 10, HTTP_HEADER_BYTES = 1 << 18, HTTP_HEADER_LINES = 2000 /* of all answers to one request */ };
#define HTTP_LIMIT (INT64_C(1) << 30)

struct exchange {
    struct core_call *call;
    uint32_t options; /* the argument that has them */
    struct piece url, body, authority;
    bool has_body, bytes, too_long;
    int64_t timeout, redirects, limit;
    CURL *handle;
    struct curl_slist *headers;
    struct text_buffer answer;
    struct text_out answer_out;
    struct cell answer_headers;
    size_t header_bytes, header_lines;
    int rc; /* of what the callbacks did */
};

/* ---- what is asked for ---- */

static int header_add(struct exchange *exchange, const struct cell *key, const struct cell *value) {
    struct core_call *call = exchange->call;
    struct piece name = {0}, content = {0};
    int rc = piece_of_cell(call, key, "the name of a header", true, &name);
    if (!rc) rc = piece_of_cell(call, value, "the value of a header", true, &content);
    if (!rc && (!name.length || strpbrk(name.bytes, ":\r\n \t") || strpbrk(content.bytes, "\r\n"))) rc = fault(call->heap, ERROR_VALUE, "%s: \"%.100s\" is no header", call->row->name, name.bytes);
    size_t room = name.length + content.length + 8;
    char *line = rc ? NULL : malloc(room);
    struct curl_slist *more = NULL;
    if (line) {
        snprintf(line, room, content.length ? "%s: %s" : "%s;", name.bytes, content.bytes);
        more = library.slist_append(exchange->headers, line);
    }
    if (!rc && !more) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory", call->row->name);
    if (more) exchange->headers = more;
    free(line);
    piece_free(&name);
    piece_free(&content);
    return rc;
}

static int headers_of(struct exchange *exchange) {
    struct core_call *call = exchange->call;
    const struct cell *map = option_find(call, exchange->options, "headers"), *key, *value;
    uint64_t position = 0;
    int rc = 0;
    if (!map) return 0;
    if (cell_tag(map) != TAG_MAP) return fault(call->heap, ERROR_TYPE, "%s: the option headers must be a map of texts", call->row->name);
    while (!rc && map_next(call->heap, map, &position, &key, &value)) rc = header_add(exchange, key, value);
    return rc;
}

static int body_of(struct exchange *exchange, const struct cell *cell) {
    struct core_call *call = exchange->call;
    if (!cell) return 0;
    exchange->has_body = true;
    if (cell_tag(cell) != TAG_ARRAY + KIND_UINT8) return piece_of_cell(call, cell, "the body", false, &exchange->body);
    const struct block *block = cell_block(call->heap, cell);
    exchange->body = (struct piece){block_body(block), (size_t)block->body_bytes, NULL};
    return 0;
}

static int options_of(struct exchange *exchange, const struct cell *body) {
    static const char *const names[] = {"body", "headers", "timeout", "redirects", "bytes", "limit", "ca", NULL};
    struct core_call *call = exchange->call;
    uint32_t i = exchange->options;
    const struct cell *authority;
    int rc = options_check(call, i, names);
    if (!rc) rc = option_milliseconds(call, i, "timeout", &exchange->timeout);
    if (!rc) rc = option_int64(call, i, "redirects", 0, 1000, &exchange->redirects);
    if (!rc) rc = option_int64(call, i, "limit", 0, INT64_MAX / 4, &exchange->limit);
    if (!rc) rc = option_bool(call, i, "bytes", &exchange->bytes);
    if (!rc) rc = body_of(exchange, body ? body : option_find(call, i, "body"));
    if (!rc && (authority = option_find(call, i, "ca")) != NULL) rc = piece_of_cell(call, authority, "the option ca", true, &exchange->authority);
    return rc ? rc : headers_of(exchange);
}

/* ---- what comes ---- */

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    struct exchange *exchange = context;
    size_t length = size * count;
    if ((int64_t)(exchange->answer.length + length) > exchange->limit) {
        exchange->too_long = true;
        return 0;
    }
    text_put(&exchange->answer_out, bytes, length);
    return exchange->answer_out.error ? 0 : length;
}

/* Header lines one by one; a status line begins a new answer (after a redirect). Values of repeated names are joined by ", ". */
static int take_header_line(struct exchange *exchange, const char *line, size_t length) {
    struct heap *heap = exchange->call->heap;
    const char *colon = memchr(line, ':', length);
    char name[200];
    if (length >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        cell_drop(heap, exchange->answer_headers);
        return members_begin(heap, "[]char/utf8·any", &exchange->answer_headers);
    }
    if (!colon || (size_t)(colon - line) >= sizeof name || cell_is_none(&exchange->answer_headers)) return 0;
    size_t bytes = (size_t)(colon - line);
    for (size_t i = 0; i < bytes; i++) name[i] = line[i] >= 'A' && line[i] <= 'Z' ? (char)(line[i] - 'A' + 'a') : line[i];
    name[bytes] = '\0';
    const char *value = colon + 1, *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t')) value++;
    while (end > value && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ')) end--;
    struct cell key, made = cell_none(), joined = cell_none();
    const struct cell *before = NULL;
    int rc = text_of_bytes_lossy(heap, name, bytes, &key);
    if (rc) return rc;
    rc = map_find(heap, &exchange->answer_headers, &key, &before);
    if (!rc) rc = text_of_bytes_lossy(heap, value, (size_t)(end - value), &made);
    if (!rc && before) {
        struct cell comma = cell_none();
        rc = text_of_bytes(heap, ", ", 2, &comma);
        if (!rc) rc = text_concat(heap, before, &comma, false, &joined);
        if (!rc) {
            rc = text_concat(heap, &joined, &made, false, &comma);
            cell_drop(heap, joined);
            cell_drop(heap, made);
            made = rc ? cell_none() : comma;
        }
    }
    return entry_put(heap, rc, &exchange->answer_headers, key, made);
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
    struct exchange *exchange = context;
    exchange->header_bytes += size * count;
    if (exchange->header_bytes > HTTP_HEADER_BYTES || ++exchange->header_lines > HTTP_HEADER_LINES)
        exchange->rc = fault(exchange->call->heap, ERROR_RUNTIME, "%s: %.300s: more than %d lines or %d bytes of headers", exchange->call->row->name, exchange->url.bytes, HTTP_HEADER_LINES, HTTP_HEADER_BYTES);
    else exchange->rc = take_header_line(exchange, bytes, size * count);
    return exchange->rc ? 0 : size * count;
}

static int give_answer(struct exchange *exchange) {
    struct heap *heap = exchange->call->heap;
    const char *bytes = exchange->answer.length ? exchange->answer.bytes : "";
    char *url = NULL;
    long status = 0;
    struct cell map, body = cell_none();
    library.easy_getinfo(exchange->handle, CURLINFO_RESPONSE_CODE, &status);
    library.easy_getinfo(exchange->handle, CURLINFO_EFFECTIVE_URL, &url);
    int rc = members_begin(heap, "[]char/utf8·any", &map);
    rc = member_put(heap, rc, &map, "status", cell_int64(status));
    rc = member_text(heap, rc, &map, "url", url ? url : "", url ? strlen(url) : 0);
    rc = member_put(heap, rc, &map, "headers", exchange->answer_headers);
    exchange->answer_headers = cell_none();
    if (!rc) rc = exchange->bytes ? array_of_bytes(heap, bytes, exchange->answer.length, &body) : text_of_bytes_lossy(heap, bytes, exchange->answer.length, &body);
    rc = member_put(heap, rc, &map, "body", body);
    if (!rc) exchange->call->results[0] = map;
    return rc;
}

/* ---- the exchange ---- */

/* curl's options; any that it refuses is an error, so that none is left out unnoticed. */
static CURLcode set_up(struct exchange *exchange, const char *method) {
    CURL *handle = exchange->handle;
    CURLcode bad = CURLE_OK;
#define SET(option, value) \
    do bad = bad == CURLE_OK ? library.easy_setopt(handle, CURLOPT_##option, value) : bad; \
    while (0)
    SET(URL, exchange->url.bytes);
    SET(NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
    SET(PROTOCOLS_STR, "http,https");
    SET(REDIR_PROTOCOLS_STR, "http,https");
#else
    SET(PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    SET(REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    SET(FOLLOWLOCATION, exchange->redirects > 0 ? 1L : 0L);
    SET(MAXREDIRS, (long)exchange->redirects);
    SET(TIMEOUT_MS, (long)exchange->timeout);
    SET(HTTPHEADER, exchange->headers);
    SET(WRITEFUNCTION, take_body);
    SET(WRITEDATA, exchange);
    SET(HEADERFUNCTION, take_header);
    SET(HEADERDATA, exchange);
    SET(ACCEPT_ENCODING, "");
    SET(USERAGENT, "kvlang");
    if (exchange->authority.length) SET(CAINFO, exchange->authority.bytes);
    if (exchange->has_body) {
        SET(POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body.length);
        SET(POSTFIELDS, exchange->body.length ? exchange->body.bytes : "");
    }
    if (strcmp(method, "HEAD") == 0) SET(NOBODY, 1L);
    else if (strcmp(method, exchange->has_body ? "POST" : "GET") != 0) SET(CUSTOMREQUEST, method);
#undef SET
    return bad;
}

static int perform(struct exchange *exchange, const char *method) {
    struct core_call *call = exchange->call;
    CURLcode code = set_up(exchange, method);
    if (code == CURLE_OK) code = library.easy_perform(exchange->handle);
    if (code == CURLE_OK) return give_answer(exchange);
    if (exchange->rc) return exchange->rc;
    if (exchange->answer_out.error) return fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory for the body", call->row->name);
    const char *url = exchange->url.bytes;
    if (exchange->too_long) return fault(call->heap, ERROR_RUNTIME, "%s: %.300s: the body has more than %lld bytes (limit)", call->row->name, url, (long long)exchange->limit);
    if (code == CURLE_OPERATION_TIMEDOUT) return fault(call->heap, ERROR_RUNTIME, "%s: %.300s: no end within %g s (timeout)", call->row->name, url, (double)exchange->timeout / 1000);
    if (code == CURLE_TOO_MANY_REDIRECTS) return fault(call->heap, ERROR_RUNTIME, "%s: %.300s: more than %lld redirects", call->row->name, url, (long long)exchange->redirects);
    return fault(call->heap, ERROR_RUNTIME, "%s: %.300s: %s", call->row->name, url, library.easy_strerror(code));
}

static bool is_method(const char *method) {
    size_t length = strlen(method);
    return length && length < 32 && strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == length;
}

static int request(struct core_call *call, const char *method, uint32_t url, const struct cell *body, uint32_t options) {
    pthread_once(&library_once, load_curl);
    if (!library.loaded) return fault(call->heap, ERROR_RUNTIME, "%s: %s", call->row->name, library.reason);
    struct exchange exchange = {.call = call, .options = options, .timeout = HTTP_TIMEOUT, .redirects = HTTP_REDIRECTS, .limit = HTTP_LIMIT, .answer_headers = cell_none()};
    exchange.answer_out = text_buffer_out(&exchange.answer);
    int rc = piece_plain(call, url, &exchange.url);
    if (!rc) rc = options_of(&exchange, body);
    if (!rc && !is_method(method)) rc = fault(call->heap, ERROR_VALUE, "%s: \"%.40s\" is no method", call->row->name, method);
    if (!rc) exchange.handle = library.easy_init();
    if (!rc && !exchange.handle) rc = fault(call->heap, ERROR_OUT_OF_MEMORY, "%s: no memory", call->row->name);
    if (!rc) rc = perform(&exchange, method);
    if (exchange.handle) library.easy_cleanup(exchange.handle);
    if (exchange.headers) library.slist_free_all(exchange.headers);
    cell_drop(call->heap, exchange.answer_headers);
    text_buffer_free(&exchange.answer);
    piece_free(&exchange.url);
    piece_free(&exchange.body);
    piece_free(&exchange.authority);
    return rc;
}

static int http_call(struct core_call *call) {
    struct piece method;
    int rc = piece_plain(call, 0, &method);
    if (rc) return rc;
    rc = request(call, method.bytes, 1, NULL, 2);
    piece_free(&method);
    return rc;
}
static int http_get(struct core_call *call) { return request(call, "GET", 0, NULL, 1); }
static int http_post(struct core_call *call) { return request(call, "POST", 0, call->args[1], 2); }

#else /* without libcurl */

static int missing(struct core_call *call) { return fault(call->heap, ERROR_RUNTIME, "%s: this kvlang was built without libcurl", call->row->name); }
static int http_call(struct core_call *call) { return missing(call); }
static int http_get(struct core_call *call) { return missing(call); }
static int http_post(struct core_call *call) { return missing(call); }

#endif

const struct native_row http_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/http.def"
#undef NATIVE
};
const uint32_t http_count = sizeof http_rows / sizeof *http_rows;
