/* prime sieve by trial division: a number is divided by the primes found so far, up to its root */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int64_t limit = 600000, count = 1, room = 16, sum = 0;
    int64_t *primes = malloc((size_t)room * sizeof *primes);
    if (!primes)
        return 1;
    primes[0] = 2;
    for (int64_t n = 3; n < limit; n++) {
        bool prime = true;
        for (int64_t i = 0, p = 2; p * p <= n; p = primes[++i])
            if (n % p == 0) {
                prime = false;
                break;
            }
        if (!prime)
            continue;
        if (count == room) {
            room *= 2;
            int64_t *wider = realloc(primes, (size_t)room * sizeof *primes);
            if (!wider)
                return 1;
            primes = wider;
        }
        primes[count++] = n;
    }
    for (int64_t i = 0; i < count; i++)
        sum += primes[i];
    printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", count, primes[count - 1], sum);
    free(primes);
    return 0;
}
