# prime sieve by trial division: a number is divided by the primes found so far, up to its root
def sieve(limit):
    primes = [2]
    n = 3
    while n < limit:
        prime = True
        i = 0
        p = 2
        while p * p <= n:
            if n % p == 0:
                prime = False
                break
            i = i + 1
            p = primes[i]
        if prime:
            primes.append(n)
        n = n + 1
    return primes


primes = sieve(600000)
print(len(primes), primes[-1], sum(primes))
