-- n queens with bit operations: columns and both diagonals are bit sets, a recursive call a row
local function place(full, columns, left, right)
  if columns == full then return 1 end
  local ways = 0
  local taken = (columns | left)
  taken = (taken | right)
  local free = (taken ~ full)
  while free ~= 0 do
    local bit = (free & -free)
    free = (free ~ bit)
    local down = (left | bit)
    down = (down << 1)
    down = (down & full)
    local aside = (right | bit)
    ways = ways + place(full, (columns | bit), down, (aside >> 1))
  end
  return ways
end
for n = 8, 12 do
  local full = (1 << n)
  full = full - 1
  print(n .. " " .. place(full, 0, 0, 0))
  print(n - 1 .. " " .. place((full >> 1), 0, 0, 0))
  print(n .. " " .. place(full, 0, 0, 0))
end
