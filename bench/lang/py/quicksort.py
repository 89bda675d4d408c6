# quicksort of an array of pseudo-random numbers, in place, with a stack of its own
def numbers(n):
    a = []
    x = 42
    for i in range(0, n):
        x = x * 16807 % 2147483647
        a.append(x % 1000003)
    return a


def sort(a, n):
    stack = [0] * 128
    stack[0] = 0
    stack[1] = n - 1
    top = 2
    while top > 0:
        top = top - 2
        low = stack[top]
        high = stack[top + 1]
        while low < high:
            pivot = a[(low + high) // 2]
            i = low
            j = high
            while i <= j:
                while a[i] < pivot:
                    i = i + 1
                while a[j] > pivot:
                    j = j - 1
                if i <= j:
                    t = a[i]
                    a[i] = a[j]
                    a[j] = t
                    i = i + 1
                    j = j - 1
            if j - low < high - i:
                stack[top] = i
                stack[top + 1] = high
                high = j
            else:
                stack[top] = low
                stack[top + 1] = j
                low = i
            top = top + 2


def main():
    n = 250000
    a = numbers(n)
    sort(a, n)
    sum = 0
    for i in range(0, n):
        sum = (sum * 31 + a[i]) % 1000000007
    print(a[0], a[125000], a[-1], sum)


main()
