/* n queens with bit operations: columns and both diagonals are bit sets, a recursive call a row */
#include <inttypes.h>
#include <stdio.h>

static int64_t place(int64_t full, int64_t columns, int64_t left, int64_t right)
{
    if (columns == full)
        return 1;
    int64_t ways = 0;
    int64_t free = (columns | left | right) ^ full;
    while (free != 0) {
        int64_t bit = free & -free;
        free ^= bit;
        ways += place(full, columns | bit, ((left | bit) << 1) & full, (right | bit) >> 1);
    }
    return ways;
}

int main(void)
{
    for (int n = 8; n <= 12; n++) {
        int64_t full = ((int64_t)1 << n) - 1;
        printf("%d %" PRId64 "\n", n, place(full, 0, 0, 0));
        printf("%d %" PRId64 "\n", n - 1, place(full >> 1, 0, 0, 0));
        printf("%d %" PRId64 "\n", n, place(full, 0, 0, 0));
    }
    return 0;
}
