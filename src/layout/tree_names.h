/* What a space has laid out already, as the compiler asks for it (struct layout_tree). Relies on scope.h and kvspace.h. */
#ifndef LAYOUT_TREE_NAMES_H
#define LAYOUT_TREE_NAMES_H
#include <kvspace/kvspace.h>
#include "layout/scope.h"

/* `tree` asks the space, which must outlive it. */
void tree_names(kvspace *space, struct layout_tree *tree);

#endif
