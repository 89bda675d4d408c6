-- float matrix product in a triple loop over tables of tables
local n = 180
local a, b, c = {}, {}, {}
for i = 1, n do
  a[i], b[i], c[i] = {}, {}, {}
  for j = 1, n do
    a[i][j] = (i - j) * 0.5
    b[i][j] = (i - 1) * (j - 1) % 7 + 0.25
    c[i][j] = 0.0
  end
end
for i = 1, n do
  for j = 1, n do
    local s = 0.0
    for k = 1, n do s = s + a[i][k] * b[k][j] end
    c[i][j] = s
  end
end
local sum = 0.0
for i = 1, n do sum = sum + c[i][i] * c[i][n + 1 - i] end
local function whole(x)
  if x < 0 then return math.ceil(x) end
  return math.floor(x)
end
print(string.format("%d %d", whole(sum), whole(c[4][6] * 1000.0)))
