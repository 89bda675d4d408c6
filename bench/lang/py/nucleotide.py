# k-nucleotide: the frequency of every part of a DNA string, of several lengths
def dna(lines):
    parts = {}
    x = 42
    for i in range(0, lines):
        line = ""
        for j in range(0, 60):
            x = x * 16807 % 2147483647
            line = line + "ACGGTTT"[x % 7]
        parts[i] = line
    return "".join(parts.values())


def frequencies(text, k):
    counts = {}
    for i in range(0, len(text) - k + 1):
        part = text[i:i + k]
        if part in counts:
            counts[part] = counts[part] + 1
        else:
            counts[part] = 1
    return counts


def report(text, part):
    counts = frequencies(text, len(part))
    n = 0
    if part in counts:
        n = counts[part]
    print(part, n, len(counts))


def main():
    text = dna(12000)
    print(len(text))
    report(text, "G")
    report(text, "GT")
    report(text, "GGT")
    report(text, "GGTA")
    report(text, "GGTATT")
    report(text, "GGTATTTT")


main()
