/* float matrix product in a triple loop over arrays of two axes */
#include <inttypes.h>
#include <stdio.h>

enum { N = 180 };
static double a[N][N], b[N][N], c[N][N];

int main(void)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (double)(i - j) * 0.5;
            b[i][j] = (double)(i * j % 7) + 0.25;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = 0.0;
            for (int k = 0; k < N; k++)
                s = s + a[i][k] * b[k][j];
            c[i][j] = s;
        }
    for (int i = 0; i < N; i++)
        sum = sum + c[i][i] * c[i][N - 1 - i];
    printf("%" PRId64 " %" PRId64 "\n", (int64_t)sum, (int64_t)(c[3][5] * 1000.0));
    return 0;
}
