# n queens with bit operations: columns and both diagonals are bit sets, a recursive call a row
def place(full, columns, left, right):
    if columns == full:
        return 1
    ways = 0
    taken = columns | left
    taken = taken | right
    free = taken ^ full
    while free != 0:
        bit = free & -free
        free = free ^ bit
        down = ((left | bit) << 1) & full
        ways = ways + place(full, columns | bit, down, (right | bit) >> 1)
    return ways


for n in range(8, 13):
    full = (1 << n) - 1
    print(n, place(full, 0, 0, 0))
    print(n - 1, place(full >> 1, 0, 0, 0))
    print(n, place(full, 0, 0, 0))
