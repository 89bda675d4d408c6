# integer loop: a mix of * + % under while, with a branch
def main():
    x = 1
    odd = 0
    i = 0
    while i < 5000000:
        x = (x * 75 + i) % 65537
        if x % 2 == 1:
            odd = odd + 1
        i = i + 1
    print(x, odd)


main()
