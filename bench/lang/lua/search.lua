-- binary search: a function that finds a number in a sorted array (from 1, so that positions are one more)
local function place(a, key)
  local low = 1
  local high = #a
  while low <= high do
    local both = low + high
    local at = (both // 2)
    local v = a[at]
    if v == key then return at end
    if v < key then low = at + 1 else high = at - 1 end
  end
  return 0
end
local n = 100000
local a = {}
for i = 0, n - 1 do a[i + 1] = 3 * i + 1 end
local x = 42
local found = 0
local sum = 0
for round = 1, 300000 do
  x = x * 16807 % 2147483647
  local at = place(a, x % 300000)
  if at >= 1 then
    found = found + 1
    sum = sum + at - 1
  end
end
print(string.format("%d %d", found, sum))
