#!/usr/bin/env python3
"""Writes numtext_powers.def: 10^q for q from -342 to 324 as 128 bits with the top bit set, rounded up.
Run it as `python3 numtext_powers.py > numtext_powers.def`; exact integer arithmetic, so every run gives the same file."""
LEAST, MOST = -342, 324


def significand(q):
    top, bottom = (10**q, 1) if q >= 0 else (1, 10**-q)
    shift = 128 - (top.bit_length() - bottom.bit_length())
    for s in (shift - 1, shift, shift + 1):
        a, b = (top << s, bottom) if s >= 0 else (top, bottom << -s)
        value = -(-a // b)
        if (a // b).bit_length() == 128:
            assert value < 1 << 128
            return value
    raise AssertionError(q)


print(f"""/* Powers of ten, made by numtext_powers.py: POWER(high, low) for 10^q, q from {LEAST} to {MOST} in order.
 * high:low is 10^q scaled by a power of two so that the top bit of high is set, rounded up when it is not exact
 * (exact for q from 0 to 55). Two kinds of arithmetic in numtext_decimal.c rely on "rounded up". */""")
rows = []
for q in range(LEAST, MOST + 1):
    m = significand(q)
    rows.append(f"POWER(0x{m >> 64:016x}, 0x{m & (1 << 64) - 1:016x})")
for i in range(0, len(rows), 2):
    print(" ".join(rows[i:i + 2]))
