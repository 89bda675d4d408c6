-- Runs a file of lua/ under LuaJIT: luajit luajit.lua FILE. The files use four operators that LuaJIT's language lacks, always as
-- `(a op b)` with plain operands; they become calls that LuaJIT compiles to the same instructions.
local file = assert(io.open(arg[1]))
local source = file:read("*a")
file:close()
local names = { ["//"] = "half", ["&"] = "band", ["|"] = "bor", ["~"] = "bxor", ["<<"] = "lshift", [">>"] = "rshift" }
source = source:gsub("%((%w+) ([/&|~<>]+) (%-?%w+)%)", function(a, operator, b)
  local name = names[operator]
  return name and name .. "(" .. a .. ", " .. b .. ")"
end)
local prelude = "local floor = math.floor local function half(a, b) return floor(a / b) end "
  .. "local band, bor, bxor, lshift, rshift = bit.band, bit.bor, bit.bxor, bit.lshift, bit.rshift "
assert(loadstring(prelude .. source, "@" .. arg[1]))()
