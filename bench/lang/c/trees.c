/* binary trees: a node is a record with two links (C has no maps; this is what one would write) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct tree {
    struct tree *left, *right;
};

static struct tree *grow(int depth)
{
    struct tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        exit(1);
    if (depth > 0) {
        tree->left = grow(depth - 1);
        tree->right = grow(depth - 1);
    }
    return tree;
}

static int64_t count(const struct tree *tree)
{
    int64_t nodes = 1;
    if (tree->left)
        nodes += count(tree->left) + count(tree->right);
    return nodes;
}

static void fell(struct tree *tree)
{
    if (tree->left) {
        fell(tree->left);
        fell(tree->right);
    }
    free(tree);
}

int main(void)
{
    struct tree *long_lived = grow(14);
    int64_t total = 0;
    for (int i = 0; i < 640; i++) {
        struct tree *tree = grow(11);
        total += count(tree);
        fell(tree);
    }
    printf("%" PRId64 " %" PRId64 "\n", total, count(long_lived));
    fell(long_lived);
    return 0;
}
