# binary trees over maps: a node is a map with the members left and right, a leaf is empty
def grow(depth):
    tree = {}
    if depth > 0:
        tree["left"] = grow(depth - 1)
        tree["right"] = grow(depth - 1)
    return tree


def count(tree):
    nodes = 1
    if "left" in tree:
        nodes = nodes + count(tree["left"]) + count(tree["right"])
    return nodes


def main():
    long_lived = grow(14)
    total = 0
    for i in range(0, 640):
        total = total + count(grow(11))
    print(total, count(long_lived))


main()
