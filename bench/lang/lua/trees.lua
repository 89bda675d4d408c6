-- binary trees over maps: a node is a table with the members left and right, a leaf is empty
local function grow(depth)
  local tree = {}
  if depth > 0 then
    tree.left = grow(depth - 1)
    tree.right = grow(depth - 1)
  end
  return tree
end
local function count(tree)
  local nodes = 1
  if tree.left ~= nil then nodes = nodes + count(tree.left) + count(tree.right) end
  return nodes
end
local long_lived = grow(14)
local total = 0
for i = 1, 640 do total = total + count(grow(11)) end
print(string.format("%d %d", total, count(long_lived)))
