"""json·: corner cases of RFC 8259 in both directions, against Python's json where it says what is right.
Relies on std_tool.py. Promises: what no JSON reader may take is refused with its place, and nothing is lost of what it must take."""
import json
import math

from kvlang_tool import main
from std_tool import FamilyTest, quoted

# Text: what comes back. Python's reader takes all of them too.
KEPT = [
    ("[9223372036854775807,-9223372036854775808]", None),
    ("[18446744073709551615,0]", None),
    ("[-1,18446744073709551615]", None),
    ("[9007199254740993,0.5]", None),
    ("[0.1,1e+22,5e-324,1.7976931348623157e+308,-0.0]", None),
    ("[1,2.5]", "[1.0,2.5]"),
    ("100000000000000000000", "1e+20"),
    ("1e-400", "0.0"),
    ('{"z":1,"a":[true,false],"m":{"q":[]}}', None),
    ('"\\u00e4\\ud83d\\ude00\\n\\u0000\\/\\b\\f"', '"ä😀\\n\\u0000/\\b\\f"'),
    ('"\u007f\u2028\U0010ffff"', '"\u007f\\u2028\U0010ffff"'),
    ("[[1,2],[3,4]]", None),
    ("[[1,2],[3]]", None),
    ("[[1],[2.5],[true]]", None),
    ("[[[]],[[]]]", None),
    ('[{},[],"",null,0]', None),
    ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
    ('{"a":null,"b":1}', '{"b":1}'),
    ("null", None),
    ("true", None),
    (' \t\r\n"x" \n', '"x"'),
    ('{"":{"":""}}', None),
    ("-0", "0"),
    ("[" * 63 + "7" + "]" * 63, None),
]

REFUSED = [
    "", " ", "[", "]", "{", "}", "[1,]", "[,1]", "[1,,2]", "[1 2]", "{,}", '{"a"}', '{"a":}', '{"a" 1}', '{"a":1,}', "{a:1}", "{'a':1}", "{1:1}", '{"a":1 "b":2}',
    "nul", "True", "NaN", "Infinity", "-", "+1", ".5", "1.", "01", "-01", "1e", "1e+", "0x10", "1_000", '"', '"\\', '"\\x41"', '"\\u12"', '"\\ud800"', '"\\udc00"',
    '"\\ud800\\u0041"', '"\t"', '"\n"', "'a'", "[1]]", "1 2", "\ufeff1", "/* c */1", "[1]//", '"a" "b"', "[" * 65 + "]" * 65, '{"a":' * 65 + "1" + "}" * 65, "[" * 100000, "1e999", "-1e999",
]


class Json(FamilyTest):
    def test_round_trip(self):
        code = "\n".join(f"println(json·to(json·from({quoted(text)})))" for text, _ in KEPT)
        for text, back in KEPT:
            json.loads(back or text)
        self.prints(code, *(back or text for text, back in KEPT))

    def test_every_refused_text_is_a_value_error(self):
        for text in REFUSED:
            with self.subTest(text=text[:40]):
                said = self.raises(f"json·from({quoted(text)})", "ValueError", "json·from")
                self.assertLess(len(said), 300000)

    def test_the_place_of_an_error(self):
        self.raises(f"json·from({quoted('[1,' + chr(10) + ' ä x]')})", "ValueError", "line 2, column 2")

    def test_numbers_become_compact_arrays(self):
        code = 'v = json·from("{\\"i\\": [1], \\"f\\": [1, 2.5], \\"u\\": [18446744073709551615], \\"b\\": [true], \\"s\\": [\\"x\\"], \\"m\\": [[1,2],[3,4]], \\"x\\": [1, \\"x\\"], \\"e\\": []}")\n'
        code += "for (k, w in v) { println(k, xv·langtype(w)) }"
        self.prints(code, "i [1]int64", "f [2]float64", "u [1]uint64", "b [1]bool", "s [int64]·[]char/utf32", "m [2,2]int64", "x [int64]·any", "e [0]int64")

    def test_a_million_numbers(self):
        path = self.write("big.json", json.dumps([i * 7 - 3000000 for i in range(1000000)], separators=(",", ":")))
        self.prints(f'a = json·from(fs·read("{path}"))\nprintln(xv·langtype(a), a[999999])\nprintln(json·to(a) == fs·read("{path}"))', "[1000000]int64 3999993", "true")

    def test_doubles_keep_all_their_digits(self):
        numbers = [math.pi * 10.0**e for e in range(-300, 300, 7)] + [2.0**e for e in range(-1074, 1023, 97)]
        text = json.dumps(numbers)
        done = self.run_code(f"println(json·to(json·from({quoted(text)})))")
        self.assertEqual(json.loads(done.stdout), numbers)

    def test_values_of_every_kind(self):
        self.prints('println(json·to({a=float32(0.1); b=int8(-5); c=uint64(7); d=char/utf8("é"); e=char/ascii("x")}))', '{"a":0.1,"b":-5,"c":7,"d":"é","e":"x"}')
        self.prints("struct P { x:float64 = 1.5; n:[]char/utf32 }\nprintln(json·to(P{}))", '{"x":1.5,"n":null}')
        self.prints('println(json·to({5="a"}))\nm:int64·any = {}\nm[1000] = 1\nprintln(json·to(m))', '[null,null,null,null,null,"a"]', '{"1000":1}')
        self.prints("println(json·to(range(3)), json·to(None), json·to([[1, 2], [3, 4]]))", "[0,1,2] null [[1,2],[3,4]]")
        self.prints("println(json·to({a=[1, 2]; b={}}, 2))", "{", '  "a": [', "    1,", "    2", "  ],", '  "b": {}', "}")

    def test_what_has_no_json(self):
        self.raises("x = json·from(\"[1e308]\")\njson·to(x[0] × 10.0)", "ValueError", "inf")
        self.raises("x = 1e308 × 10.0\njson·to({a=x - x})", "ValueError", "nan")
        self.raises("x = 1\njson·to({p=&x})", "TypeError", "json·to")
        self.raises("json·to(1, -1)", "ValueError", "indent")
        self.raises('json·to(1, "a")', "TypeError", "indent")
        self.raises("x = [1]\njson·from(x)", "TypeError", "text")
        code = "m = {}\nm·a = 1\nfor (i in range(70)) {\n n = {}\n n·a = m\n m = n\n}\njson·to(m)"
        self.raises(code, "ValueError", "deep")


if __name__ == "__main__":
    main()
