# binary search: a function that finds a number in a sorted array passed by value
def place(a, key):
    low = 0
    high = len(a) - 1
    while low <= high:
        at = (low + high) // 2
        v = a[at]
        if v == key:
            return at
        if v < key:
            low = at + 1
        else:
            high = at - 1
    return -1


def main():
    n = 100000
    a = []
    for i in range(0, n):
        a.append(3 * i + 1)
    x = 42
    found = 0
    sum = 0
    for round in range(0, 300000):
        x = x * 16807 % 2147483647
        at = place(a, x % 300000)
        if at >= 0:
            found = found + 1
            sum = sum + at
    print(found, sum)


main()
