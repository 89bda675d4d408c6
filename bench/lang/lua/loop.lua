-- integer loop: a mix of * + % under while, with a branch
local function main()
  local x = 1
  local odd = 0
  local i = 0
  while i < 5000000 do
    x = (x * 75 + i) % 65537
    if x % 2 == 1 then odd = odd + 1 end
    i = i + 1
  end
  print(x .. " " .. odd)
end
main()
