/* hash·: SHA-256 (FIPS 180-4), and XXH3 through libxxhash. Relies on pieces.h.
 * Promise: contents are read in place and never changed. */
#include "std/family.h"
#include "std/pieces.h"

#ifdef KVLANG_HAVE_XXHASH
#include <xxhash.h>
#endif

#define NATIVE FAMILY_FUNCTION
#include "std/hash.def"
#undef NATIVE

/* ---- SHA-256 ---- */

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
    0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
    0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
    0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
    0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned by) { return word >> by | word << (32 - by); }

static void sha256_block(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64], v[8];
    for (unsigned i = 0; i < 16; i++, block += 4) w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, state, sizeof v);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t a = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + rounds[i] + w[i];
        uint32_t b = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += a;
        v[0] = a + b;
    }
    for (unsigned i = 0; i < 8; i++) state[i] += v[i];
}

static void sha256(const unsigned char *bytes, size_t length, uint32_t state[8]) {
    static const uint32_t begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char tail[128] = {0};
    size_t whole = length / 64 * 64, rest = length - whole, end = rest < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)length * 8;
    memcpy(state, begin, sizeof begin);
    for (size_t i = 0; i < whole; i += 64) sha256_block(state, bytes + i);
    if (rest) memcpy(tail, bytes + whole, rest);
    tail[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++) tail[end - 1 - i] = (unsigned char)(bits >> 8 * i);
    for (size_t i = 0; i < end; i += 64) sha256_block(state, tail + i);
}

static int hash_sha256(struct core_call *call) {
    struct piece content;
    uint32_t state[8];
    char hex[72];
    int rc = piece_content(call, 0, &content);
    if (rc) return rc;
    sha256((const unsigned char *)content.bytes, content.length, state);
    piece_free(&content);
    for (unsigned i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)state[i]);
    return give_text(call, hex, 64);
}

/* ---- XXH3 ---- */

#ifdef KVLANG_HAVE_XXHASH
static int hash_xxh3(struct core_call *call) {
    struct piece content;
    int rc = piece_content(call, 0, &content);
    if (rc) return rc;
    call->results[0] = cell_uint64(XXH3_64bits(content.bytes, content.length));
    piece_free(&content);
    return 0;
}
#else
static int hash_xxh3(struct core_call *call) {
    return fault(call->heap, ERROR_RUNTIME, "hash·xxh3: this kvlang was built without libxxhash");
}
#endif

const struct native_row hash_rows[] = {
#define NATIVE FAMILY_ROW
#include "std/hash.def"
#undef NATIVE
};
const uint32_t hash_count = sizeof hash_rows / sizeof *hash_rows;
