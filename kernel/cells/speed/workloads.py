import functools
import io
import queue
import resource
import sys
import threading
import time


def loop(n):
    s = 0
    for i in range(n):
        s += i
    return s


def matmul(a, b, c, n):
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += a[i * n + k] * b[k * n + j]
            c[i * n + j] = s


def inserts(n):
    m = {}
    for i in range(n):
        m[i * 7] = i
    return len(m)


def words(n):
    ws, x = [], 1
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        ws.append("w" + str(x // 256 % 5000))
    return ws


def count(ws):
    m = {}
    for w in ws:
        m[w] = m.get(w, 0) + 1
    return m


def keyed(names, n):
    m = {}
    for i in range(n):
        k = i % 1000
        m[k] = m.get(k, 0) + 1
        w = names[i % len(names)]
        m[w] = m.get(w, 0) + 1
    return len(m) + m[7] + m.get("w77", 0)


def ranges(m, n):
    s = 0
    for _ in range(n):
        for k, v in m.items():
            s += k * v
    return s


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def order(n):
    xs = random(n)
    xs.sort(key=functools.cmp_to_key(lambda a, b: a - b))
    return xs[n // 2]


class Person:
    def __init__(self, name, age):
        self.name = name
        self.age = age


def total(xs):
    s = 0.0
    for x in xs:
        s += x
    return s


class Counter:
    def __init__(self):
        self.n = 0

    def add(self, k):
        self.n += k


def methods(n):
    c = Counter()
    for i in range(n):
        c.add(i)
    return c.n


def stencil(a, b, n):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            b[i * n + j] = 0.25 * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j])


def histogram(xs):
    h = [0] * 256
    for x in xs:
        h[x & 255] += 1
    return h


def appends(n):
    xs = []
    for i in range(n):
        xs.append(i)
    return len(xs) + xs[n // 2]


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def plus(self, k):
        return self.x + self.y + k

    def moved(self, x, y):
        return Point(self.x + x, self.y + y)


def values(n):
    p, s = Point(1, 2), 0
    for i in range(n):
        s += p.plus(i)
    return s


def moves(n):
    p = Point(1, 2)
    for i in range(n):
        p = p.moved(1, i)
    return p.x + p.y


class Triple:
    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def plus(self, k):
        return self.x + self.y + k


class Number:
    def __init__(self, x):
        self.x = x

    def plus(self, k):
        return self.x + k


def plus(a, k):
    return a.plus(k)


def shapes(n):
    xs, s = [Point(1, 2), Triple(1, 2, 3), Number(5), Point(3, 4)], 0
    for i in range(n):
        s += plus(xs[i & 3], i)
    return s


def measured(x):
    if isinstance(x, int):
        return x
    if isinstance(x, str):
        return len(x)
    return 0


def switches(n):
    xs, s = [1, "ab", 2.5, "abc"], 0
    for i in range(n):
        s += measured(xs[i & 3])
    return s


def divide(a, b):
    if b == 0:
        return 0, ValueError(f"{a} by zero")
    return a // b, None


def divisions(n):
    s = 0
    for i in range(n):
        q, err = divide(i, 3)
        if err is not None:
            return 0
        s += q
    return s


def texts(n):
    s = 0
    for i in range(n):
        s += len(str(i))
    return s


def digits(i):
    return len(str(i))


def helpers(n):
    s = 0
    for i in range(n):
        s += digits(i)
    return s


def document(n):
    ws = words(5 * n)
    return "".join(" ".join(ws[5 * i:5 * i + 5]) + "\n" for i in range(n))


def lines(text):
    m = {}
    for line in io.StringIO(text):
        for w in line.split():
            m[w] = m.get(w, 0) + 1
    return m


def closures(n):
    s = 0

    def add(k):
        nonlocal s
        s += k

    for i in range(n):
        add(i)
    return s


def passes(n):
    c = queue.SimpleQueue()

    def send():
        for i in range(n):
            c.put(i)
        c.put(None)

    t = threading.Thread(target=send)
    t.start()
    s = 0
    while (x := c.get()) is not None:
        s += x
    t.join()
    return s


def buffered(n):
    c, s = queue.SimpleQueue(), 0
    for i in range(0, n, 1000):
        for j in range(1000):
            c.put(i + j)
        for j in range(1000):
            s += c.get()
    return s


def selects(n):
    c, s = queue.SimpleQueue(), 0

    def send():
        for i in range(0, n, 2):
            c.put((0, i))
            c.put((1, i + 1))

    t = threading.Thread(target=send)
    t.start()
    for _ in range(n):
        which, x = c.get()
        s += x if which == 0 else 2 * x
    t.join()
    return s


class Guarded:
    def __init__(self):
        self.mu = threading.Lock()
        self.n = 0

    def add(self, k):
        with self.mu:
            self.n += k


def locks(n):
    g = Guarded()
    for i in range(n):
        g.add(i)
    return g.n


class Counted:
    def __init__(self):
        self.n, self.calls = 0, 0

    def add(self, k):
        try:
            self.n += k
        finally:
            self.calls += 1


def deferred(n):
    c = Counted()
    for i in range(n):
        c.add(i)
    return c.n + c.calls


def checked(k, limit):
    try:
        if k >= limit:
            raise ValueError(k)
        return k + 1
    except ValueError as e:
        return e.args[0]


def recovered(n, limit):
    s = 0
    for i in range(n):
        s += checked(i, limit)
    return s


def random(n):
    xs, x = [0] * n, 1
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        xs[i] = x
    return xs


def workload(row):
    if row == "loop":
        return lambda: loop(100000000)
    if row == "matmul":
        n = 256
        a, b, c = [float(i % 7) for i in range(n * n)], [float(i % 5) for i in range(n * n)], [0.0] * (n * n)

        def run():
            matmul(a, b, c, n)
            return c[n * n - 1]

        return run
    if row == "map":
        return lambda: inserts(1000000)
    if row == "words":
        ws = words(1000000)
        return lambda: count(ws)["w77"]
    if row == "keyed":
        names = words(1000)
        return lambda: keyed(names, 200000)
    if row == "range":
        m = {i: i * 3 for i in range(1000)}
        return lambda: ranges(m, 1000)
    if row == "fib":
        return lambda: fib(32)
    if row == "append":
        return lambda: appends(3000000)
    if row == "boxes":
        return lambda: appends(1000000)
    if row in ("values", "dynamic"):
        return lambda: values(1000000)
    if row == "moves":
        return lambda: moves(1000000)
    if row == "shapes":
        return lambda: shapes(1000000)
    if row == "switches":
        return lambda: switches(1000000)
    if row == "errors":
        return lambda: divisions(1000000)
    if row == "library":
        return lambda: texts(1000000)
    if row == "helpers":
        return lambda: helpers(1000000)
    if row == "lines":
        text = document(100000)
        return lambda: lines(text)["w77"]
    if row == "closures":
        return lambda: closures(1000000)
    if row == "passes":
        return lambda: passes(1000000)
    if row == "buffered":
        return lambda: buffered(1000000)
    if row == "selects":
        return lambda: selects(200000)
    if row == "locks":
        return lambda: locks(300000)
    if row == "deferred":
        return lambda: deferred(300000)
    if row == "guards":
        return lambda: recovered(300000, 300000)
    if row == "panics":
        return lambda: recovered(100000, 0)
    if row == "ints":
        xs = random(1000000)

        def ints():
            xs.sort()
            return xs[len(xs) // 2]

        return ints
    if row == "sort":
        return lambda: order(1000000)
    if row == "sorter":
        people = [Person("", x) for x in random(200000)]

        def by_age():
            people.sort(key=lambda p: p.age)
            return people[len(people) // 2].age

        return by_age
    if row == "keys":
        staff = [Person("n" + str(x // 256 % 5000), x) for x in random(200000)]

        def by_name_and_age():
            staff.sort(key=lambda p: (p.name, p.age))
            return staff[len(staff) // 2].age

        return by_name_and_age
    if row == "sum":
        xs = [float(i % 8) for i in range(1 << 21)]
        return lambda: total(xs)
    if row == "methods":
        return lambda: methods(1000000)
    if row == "stencil":
        n = 1024
        a, b = [float(i % 16) for i in range(n * n)], [0.0] * (n * n)

        def run():
            stencil(a, b, n)
            return 4 * b[5 * n + 7]

        return run
    if row == "histogram":
        xs = [i * i for i in range(1 << 20)]
        return lambda: histogram(xs)[1]
    raise SystemExit("no such row: " + row)


if sys.argv[1] == "memory":
    for _ in range(8):
        large = [0.0] * 30000000
    print("%.1f %d" % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(large)))
    sys.exit()
if sys.argv[1] == "top":
    top = []
    before = time.process_time()
    for i in range(3000000):
        top.append(i)
    print("%.6f %d" % (time.process_time() - before, len(top) + top[len(top) // 2]))
    sys.exit()
f = workload(sys.argv[1])
before = time.process_time()
result = f()
print("%.6f %d" % (time.process_time() - before, result))
