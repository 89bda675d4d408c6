/* hash table: counting pseudo-random integers in an open-addressing table that grows, then walking it */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct entry {
    int64_t key, value; /* value 0: free */
};
static struct entry *table;
static uint64_t room, used;

static struct entry *find(int64_t key)
{
    uint64_t at = (uint64_t)key * 0x9e3779b97f4a7c15u >> 20;
    for (;; at++) {
        struct entry *entry = &table[at & (room - 1)];
        if (!entry->value || entry->key == key)
            return entry;
    }
}

static void grow(void)
{
    struct entry *old = table;
    uint64_t count = room;
    room = room ? room * 2 : 16;
    table = calloc(room, sizeof *table);
    if (!table)
        exit(1);
    for (uint64_t i = 0; i < count; i++)
        if (old[i].value)
            *find(old[i].key) = old[i];
    free(old);
}

int main(void)
{
    int64_t x = 42, most = 0, sum = 0;
    for (int i = 0; i < 2000000; i++) {
        x = x * 16807 % 2147483647;
        if (2 * used >= room)
            grow();
        struct entry *entry = find(x % 50021);
        if (!entry->value)
            used++;
        entry->key = x % 50021;
        entry->value++;
    }
    for (uint64_t i = 0; i < room; i++) {
        if (table[i].value > most)
            most = table[i].value;
        sum = (sum + table[i].key * table[i].value * table[i].value) % 1000000007;
    }
    printf("%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", used, find(42)->value, most, sum);
    free(table);
    return 0;
}
