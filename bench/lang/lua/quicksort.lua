-- quicksort of an array of pseudo-random numbers, in place, with a stack of its own (arrays from 1)
local function numbers(n)
  local a = {}
  local x = 42
  for i = 1, n do
    x = x * 16807 % 2147483647
    a[i] = x % 1000003
  end
  return a
end
local function sort(a, n)
  local stack = { 1, n }
  local top = 3
  while top > 1 do
    top = top - 2
    local low = stack[top]
    local high = stack[top + 1]
    while low < high do
      local sum = low + high
      local pivot = a[(sum // 2)]
      local i = low
      local j = high
      while i <= j do
        while a[i] < pivot do i = i + 1 end
        while a[j] > pivot do j = j - 1 end
        if i <= j then
          local t = a[i]
          a[i] = a[j]
          a[j] = t
          i = i + 1
          j = j - 1
        end
      end
      if j - low < high - i then
        stack[top] = i
        stack[top + 1] = high
        high = j
      else
        stack[top] = low
        stack[top + 1] = j
        low = i
      end
      top = top + 2
    end
  end
end
local n = 250000
local a = numbers(n)
sort(a, n)
local sum = 0
for i = 1, n do sum = (sum * 31 + a[i]) % 1000000007 end
print(string.format("%d %d %d %d", a[1], a[125001], a[n], sum))
