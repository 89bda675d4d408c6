/* What comes from outside as bytes: heads of values in the exchange form, and whole spaces. An input that begins with an odd byte is
 * a head: what decodes is encoded again and must be the same. One that begins with an even byte says which words of a good space are
 * broken, six bytes each (two that choose a place in use, four to be put there); the space is then examined (damage.h).
 * Relies on the public interface. Promises: aborts with the question that got a wrong answer. */
#include "../damage.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 8 << 20, PIECE = 4096, PIECES_MAX = 1024, WORDS_MAX = 64, SEALED = 128 };

static char directory[200], dsn[260];
static struct {
    off_t at;
    unsigned char bytes[PIECE];
} *pieces;
static size_t piece_count;
static off_t image_bytes;
static int image_fd = -1;

static void drop_image(void) {
    unlink(dsn + 4);
    rmdir(directory);
}

static void give_up(const char *what) {
    fprintf(stderr, "codec_fuzz: %s\n", what);
    abort();
}

static void take_image(void) {
    static const unsigned char zeros[PIECE];
    const char *top = getenv("TMPDIR");
    struct kvspace_open_options options = {.limit_bytes = LIMIT};
    struct stat facts;
    kvspace *space = NULL;
    snprintf(directory, sizeof directory, "%s/kvspace-fuzz-XXXXXX", top && *top ? top : "/tmp");
    pieces = calloc(PIECES_MAX, sizeof *pieces);
    if (!pieces || !mkdtemp(directory)) give_up("no folder");
    snprintf(dsn, sizeof dsn, "shm:%s/space", directory);
    atexit(drop_image);
    if (kvspace_open_with(dsn, &options, &space) || damage_populate(space)) give_up("no space");
    kvspace_close(space);
    image_fd = open(dsn + 4, O_RDWR | O_CLOEXEC);
    if (image_fd < 0 || fstat(image_fd, &facts)) give_up("no file");
    image_bytes = facts.st_size;
    for (off_t at = 0; at < image_bytes && piece_count < PIECES_MAX; at += PIECE) {
        ssize_t got = pread(image_fd, pieces[piece_count].bytes, PIECE, at);
        if (got <= 0 || memcmp(pieces[piece_count].bytes, zeros, (size_t)got) == 0) continue;
        pieces[piece_count++].at = at;
    }
}

static void restore(void) {
    if (ftruncate(image_fd, 0) || ftruncate(image_fd, image_bytes)) give_up("truncate");
    for (size_t i = 0; i < piece_count; i++)
        if (pwrite(image_fd, pieces[i].bytes, PIECE, pieces[i].at) != PIECE) give_up("write");
}

static void break_space(const uint8_t *data, size_t size) {
    const char *why = "";
    if (image_fd < 0) take_image();
    restore();
    for (size_t i = 0; i + 6 <= size && i < 6 * WORDS_MAX; i += 6) {
        /* Pieces by five bits and more, so that a byte of the input moves the place by a little. */
        size_t choice = (size_t)data[i] << 8 | data[i + 1];
        off_t at = pieces[choice % piece_count].at + (off_t)(choice / piece_count * 4 % PIECE);
        if (at >= SEALED && pwrite(image_fd, data + i + 2, 4, at) != 4) give_up("write");
    }
    if (damage_examine(dsn, &why)) give_up(why);
}

static void decode_head(const uint8_t *data, size_t size) {
    static unsigned char again[1 << 16];
    struct kvspace_decoded decoded;
    size_t bytes = 0;
    int rc = kvspace_head_decode(data, size, &decoded);
    if (rc && rc != KVSPACE_EDAMAGED && rc != KVSPACE_EVALUE) give_up("a code that head_decode does not give");
    if (rc) return;
    if (decoded.head_bytes > size) give_up("a head that is longer than what it was read from");
    if (decoded.value.body && decoded.value.body_bytes > size - decoded.head_bytes) give_up("a body that is not there");
    rc = kvspace_head_encode(&decoded.value, again, sizeof again, &bytes);
    if (rc == KVSPACE_ELIMIT && bytes > sizeof again) return;
    if (rc) give_up("what was decoded does not encode");
    struct kvspace_decoded second;
    if (kvspace_head_decode(again, bytes, &second) || second.value.body_bytes != decoded.value.body_bytes ||
        second.value.kind != decoded.value.kind || second.value.ndim != decoded.value.ndim || second.value.store != decoded.value.store ||
        second.value.type_bytes != decoded.value.type_bytes || second.value.ref != decoded.value.ref)
        give_up("decoded, encoded and decoded, it is another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    if (data[0] & 1) decode_head(data + 1, size - 1);
    else break_space(data + 1, size - 1);
    return 0;
}
