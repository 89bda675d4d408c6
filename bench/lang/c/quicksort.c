/* quicksort of an array of pseudo-random numbers, in place, with a stack of its own */
#include <inttypes.h>
#include <stdio.h>

enum { N = 250000 };
static int64_t a[N];

static void sort(int64_t n)
{
    int64_t stack[128], top = 2;
    stack[0] = 0;
    stack[1] = n - 1;
    while (top > 0) {
        top -= 2;
        int64_t low = stack[top], high = stack[top + 1];
        while (low < high) {
            int64_t pivot = a[(low + high) / 2], i = low, j = high;
            while (i <= j) {
                while (a[i] < pivot)
                    i++;
                while (a[j] > pivot)
                    j--;
                if (i <= j) {
                    int64_t t = a[i];
                    a[i++] = a[j];
                    a[j--] = t;
                }
            }
            if (j - low < high - i) {
                stack[top] = i;
                stack[top + 1] = high;
                high = j;
            } else {
                stack[top] = low;
                stack[top + 1] = j;
                low = i;
            }
            top += 2;
        }
    }
}

int main(void)
{
    int64_t x = 42, sum = 0;
    for (int i = 0; i < N; i++) {
        x = x * 16807 % 2147483647;
        a[i] = x % 1000003;
    }
    sort(N);
    for (int i = 0; i < N; i++)
        sum = (sum * 31 + a[i]) % 1000000007;
    printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", a[0], a[125000], a[N - 1], sum);
    return 0;
}
