/* k-nucleotide: the frequency of every part of a DNA string, of several lengths, in an open-addressing table whose keys
 * are places in the text */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 12000, LENGTH = LINES * 60, ROOM = 1 << 17 };
static char text[LENGTH];
struct entry {
    const char *part;
    uint32_t hash, count;
};
static struct entry table[ROOM];

static struct entry *find(const char *part, size_t k)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < k; i++)
        hash = (hash ^ (unsigned char)part[i]) * 16777619u;
    for (uint32_t at = hash ^ hash >> 15;; at++) {
        struct entry *entry = &table[at % ROOM];
        if (!entry->part || (entry->hash == hash && memcmp(entry->part, part, k) == 0)) {
            entry->hash = hash;
            return entry;
        }
    }
}

static void report(const char *part)
{
    size_t k = strlen(part), entries = 0;
    memset(table, 0, sizeof table);
    for (size_t i = 0; i + k <= LENGTH; i++) {
        struct entry *entry = find(text + i, k);
        if (!entry->part) {
            entry->part = text + i;
            entries++;
        }
        entry->count++;
    }
    printf("%s %u %zu\n", part, (unsigned)find(part, k)->count, entries);
}

int main(void)
{
    int64_t x = 42;
    for (int i = 0; i < LENGTH; i++) {
        x = x * 16807 % 2147483647;
        text[i] = "ACGGTTT"[x % 7];
    }
    printf("%d\n", LENGTH);
    report("G");
    report("GT");
    report("GGT");
    report("GGTA");
    report("GGTATT");
    report("GGTATTTT");
    return 0;
}
