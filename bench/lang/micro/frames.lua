local function down(x)
  local depth = 0
  if x ~= 0 then depth = down(x - 1) + 1 end
  return depth
end
local n = 1
print(down(n))
