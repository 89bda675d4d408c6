import sys

n = 1
sys.setrecursionlimit(10000000)


def down(x):
    depth = 0
    if x != 0:
        depth = down(x - 1) + 1
    return depth


print(down(n))
