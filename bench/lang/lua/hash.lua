-- hash table: counting pseudo-random integers in a table, then walking it
local m = {}
local x = 42
for i = 1, 2000000 do
  x = x * 16807 % 2147483647
  local k = x % 50021
  local v = m[k]
  if v ~= nil then m[k] = v + 1 else m[k] = 1 end
end
local entries = 0
local most = 0
local sum = 0
for k, v in pairs(m) do
  entries = entries + 1
  if v > most then most = v end
  sum = (sum + k * v * v) % 1000000007
end
print(string.format("%d %d %d %d", entries, m[42], most, sum))
