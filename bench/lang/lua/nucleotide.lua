-- k-nucleotide: the frequency of every part of a DNA string, of several lengths
local function dna(lines)
  local parts = {}
  local x = 42
  local letters = "ACGGTTT"
  for i = 1, lines do
    local line = ""
    for j = 1, 60 do
      x = x * 16807 % 2147483647
      local at = x % 7 + 1
      line = line .. letters:sub(at, at)
    end
    parts[i] = line
  end
  return table.concat(parts)
end
local function frequencies(text, k)
  local counts = {}
  for i = 1, #text - k + 1 do
    local part = text:sub(i, i + k - 1)
    local n = counts[part]
    if n ~= nil then counts[part] = n + 1 else counts[part] = 1 end
  end
  return counts
end
local function report(text, part)
  local counts = frequencies(text, #part)
  local entries = 0
  for _ in pairs(counts) do entries = entries + 1 end
  print(string.format("%s %d %d", part, counts[part] or 0, entries))
end
local text = dna(12000)
print(#text)
report(text, "G")
report(text, "GT")
report(text, "GGT")
report(text, "GGTA")
report(text, "GGTATT")
report(text, "GGTATTTT")
