-- prime sieve by trial division: a number is divided by the primes found so far, up to its root
local function sieve(limit)
  local primes = { 2 }
  local n = 3
  while n < limit do
    local prime = true
    local i = 1
    local p = 2
    while p * p <= n do
      if n % p == 0 then
        prime = false
        break
      end
      i = i + 1
      p = primes[i]
    end
    if prime then primes[#primes + 1] = n end
    n = n + 1
  end
  return primes
end
local primes = sieve(600000)
local sum = 0
for i = 1, #primes do sum = sum + primes[i] end
print(string.format("%d %d %d", #primes, primes[#primes], sum))
