n = 1


def next(x):
    return x + 1


def main(n):
    i = 0
    while i < n:
        i = next(i)
    print(i)


main(n)
