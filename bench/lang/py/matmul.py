# float matrix product in a triple loop over lists of lists
def main():
    n = 180
    a = [[0.0] * n for i in range(n)]
    b = [[0.0] * n for i in range(n)]
    c = [[0.0] * n for i in range(n)]
    for i in range(0, n):
        for j in range(0, n):
            a[i][j] = float(i - j) * 0.5
            b[i][j] = float(i * j % 7) + 0.25
    for i in range(0, n):
        for j in range(0, n):
            s = 0.0
            for k in range(0, n):
                s = s + a[i][k] * b[k][j]
            c[i][j] = s
    sum = 0.0
    for i in range(0, n):
        sum = sum + c[i][i] * c[i][n - 1 - i]
    print(int(sum), int(c[3][5] * 1000.0))


main()
