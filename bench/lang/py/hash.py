# hash table: counting pseudo-random integers in a map, then walking it
def main():
    m = {}
    x = 42
    for i in range(0, 2000000):
        x = x * 16807 % 2147483647
        k = x % 50021
        if k in m:
            m[k] = m[k] + 1
        else:
            m[k] = 1
    most = 0
    sum = 0
    for k, v in m.items():
        if v > most:
            most = v
        sum = (sum + k * v * v) % 1000000007
    print(len(m), m[42], most, sum)


main()
