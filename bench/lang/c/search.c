/* binary search: a function that finds a number in a sorted array */
#include <inttypes.h>
#include <stdio.h>

enum { N = 100000, ROUNDS = 300000 };
static int64_t a[N];

static int64_t place(const int64_t *array, int64_t n, int64_t key)
{
    int64_t low = 0, high = n - 1;
    while (low <= high) {
        int64_t at = (low + high) / 2, v = array[at];
        if (v == key)
            return at;
        if (v < key)
            low = at + 1;
        else
            high = at - 1;
    }
    return -1;
}

int main(void)
{
    int64_t x = 42, found = 0, sum = 0;
    for (int64_t i = 0; i < N; i++)
        a[i] = 3 * i + 1;
    for (int i = 0; i < ROUNDS; i++) {
        x = x * 16807 % 2147483647;
        int64_t at = place(a, N, x % 300000);
        if (at >= 0) {
            found++;
            sum += at;
        }
    }
    printf("%" PRId64 " %" PRId64 "\n", found, sum);
    return 0;
}
