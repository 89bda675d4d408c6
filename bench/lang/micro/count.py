n = 1


def main(n):
    i = 0
    while i < n:
        i = i + 1
    print(i)


main(n)
