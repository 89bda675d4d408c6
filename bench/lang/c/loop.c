/* integer loop: a mix of * + % under while, with a branch */
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    int64_t x = 1, odd = 0, i = 0;
    while (i < 5000000) {
        x = (x * 75 + i) % 65537;
        if (x % 2 == 1)
            odd = odd + 1;
        i = i + 1;
    }
    printf("%" PRId64 " %" PRId64 "\n", x, odd);
    return 0;
}
