local function next(x) return x + 1 end
local n = 1
local i = 0
while i < n do i = next(i) end
print(i)
