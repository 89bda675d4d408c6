"""ls and tree of the kvspace tool: order, kinds of entries, limits, JSON, functions as tables, safe drawing."""
import kvspace_tool
from kvspace_tool import NO, USAGE


class Listing(kvspace_tool.ToolTest):
    def setUp(self):
        super().setUp()
        self.set(b="1", a__x="2", c='"text"')
        self.tool("set", "/m", "{k=1; l=[1,2]}")
        self.tool("set", "/a/..hidden", "9")
        self.tool("set", "/p", "&/m·k")

    def test_ls_in_order_of_insertion(self):
        self.assertEqual([line for line in self.tool("ls").splitlines() if line != "sys/"], ["b", "a/", "c", "m·", "p"])
        self.assertEqual(self.tool("ls", "/a"), "x\n")
        self.assertEqual(self.tool("ls", "/a/"), "x\n")
        self.assertEqual(self.tool("ls", "-a", "/a"), "x\n‥hidden\n")
        self.assertEqual(self.tool("ls", "-a", "--ascii", "/a"), "x\n..hidden\n")
        self.assertEqual(self.tool("ls", "/m"), "·k\n·l\n")
        self.assertEqual(self.tool("ls", "/b"), "")

    def test_ls_long(self):
        rows = [line.split(maxsplit=3) for line in self.tool("ls", "-l", "/m").splitlines()]
        self.assertEqual(rows, [["int64", "8", "·k", "1"], ["[2]int64", "16", "·l", "[1, 2]"]])
        self.assertIn("-> /m·k", self.tool("ls", "-ld", "/p"))
        self.tool("set", "/n·e", "int8(3)")
        self.tool("set", "/n·s", '[]char/utf8("it")')
        self.assertEqual([line.split() for line in self.tool("ls", "-l", "/n").splitlines()], [["int8", "1", "·e", "3"], ["[]char/utf8", "2", "·s", '"it"']])
        self.assertEqual(self.tool("tree", "/n"), '/n\n├─ ·e = int8(3)\n└─ ·s = "it"\n')
        self.assertEqual(self.tool("ls", "-d", "/a"), "/a\n")

    def test_ls_json(self):
        rows = self.json("ls", "--json", "-l", "/m")
        self.assertEqual([(row["name"], row["step"], row["type"], row["value"]) for row in rows],
                         [("k", "member", "int64", 1), ("l", "member", "[2]int64", [1, 2])])
        self.assertEqual(self.json("ls", "--json", "/b"), [])
        top = {row["name"]: row for row in self.json("ls", "--json")}
        self.assertTrue(top["a"]["children"])
        self.assertTrue(top["m"]["members"])

    def test_ls_max(self):
        self.assertEqual(self.tool("ls", "--max", "1", "/m"), "·k\n… 1 more\n")

    def test_absent(self):
        self.fails(NO, "ls", "/none", says="/none")
        self.fails(NO, "ls", "-d", "/none", says="/none")
        self.fails(NO, "tree", "/none", says="/none")

    def test_tree(self):
        self.assertEqual(self.tool("tree", "/a"), "/a\n└─ x = 2\n")
        self.assertEqual(self.tool("tree", "-a", "/a"), "/a\n├─ x = 2\n└─ ‥hidden = 9\n")
        text = self.tool("tree", "/m")
        self.assertEqual(text.splitlines()[1:], ["├─ ·k = 1", "└─ ·l = [1, 2]"])
        whole = self.tool("tree").splitlines()
        self.assertIn("├─ b = 1", whole)
        self.assertTrue(any(line.endswith("p  -> /m·k") for line in whole), whole)
        self.assertTrue(any(line.endswith('c = "text"') for line in whole), whole)

    def test_long_values_are_cut(self):
        self.tool("set", "--text", "/long", "wörd " * 1000)
        self.tool("set", "/many", "[1000]int64([7...])")
        lines = self.tool("tree").splitlines()
        text = next(line for line in lines if "long" in line)
        self.assertTrue(text.endswith("…") and len(text) < 250, text)
        self.assertIn("├─ long", text)
        self.assertTrue(any(line.endswith("many = [7, 7, 7, 7, 7, 7, 7, 7, …]") for line in lines), lines)

    def test_tree_in_ascii(self):
        text = self.tool("tree", "--ascii", "-a")
        self.assertTrue(text.isascii(), text)
        self.assertIn("|- b = 1\n", text)
        self.assertIn("..hidden", text)

    def test_tree_depth_and_max(self):
        for i in range(10):
            self.tool("set", f"/n/{i}/deep/er", "1")
        self.assertEqual(self.tool("tree", "--depth", "0", "/n"), "/n\n")
        self.assertEqual(self.tool("tree", "--depth", "1", "--max", "2", "/n"), "/n\n├─ 0  …\n├─ 1  …\n└─ … 8 more\n")
        shown = self.json("tree", "--json", "--depth", "1", "--max", "2", "/n")
        self.assertEqual([row["key"] for row in shown["below"]], ["/n/0", "/n/1"])
        self.assertEqual((shown["more"], shown["below"][0]["cut"]), (8, True))
        self.fails(USAGE, "tree", "--depth", "-1", says="--depth")

    def test_tree_json(self):
        shown = self.json("tree", "--json", "/a")
        self.assertEqual(shown, {"key": "/a", "below": [{"key": "/a/x", "type": "int64", "value": 2}]})

    def test_a_very_deep_tree_is_cut(self):
        self.tool("set", "/d" * 1500, "1")
        self.assertIn("…", self.tool("tree"))
        self.assertIn("…", self.tool("tree", "--depth", "200"))
        self.fails(USAGE, "tree", "--depth", "100000")


class Functions(kvspace_tool.ToolTest):
    def lay_out(self):
        rows = {
            "/lib/math·add": "rwfunc(2,1,0,3)",
            "/lib/math·add/[0,-1]": "param(A:int64)", "/lib/math·add/[0,-2]": "param(B:int64)",
            "/lib/math·add/[0,1]": "param(C:int64)",
            # Written in another order than it is shown.
            "/lib/math·add/[2,0]": "opcode(call)", "/lib/math·add/[2,1]": "name(C)", "/lib/math·add/[2,-1]": "&/lib/math·twice",
            "/lib/math·add/[2,-3]": '"text"', "/lib/math·add/[3,0]": "opcode(return)",
            "/lib/math·add/[1,0]": "opcode(add)", "/lib/math·add/[1,-1]": "name(A)", "/lib/math·add/[1,-2]": "int8(3)",
            "/lib/math·add/[1,1]": "name(‥1)",
        }
        for key, literal in rows.items():
            self.tool("set", key, literal)
        self.tool("set", "--text", "/lib/math·add/..src", "…")

    def test_reads_as_a_disassembly(self):
        self.lay_out()
        self.assertEqual(self.tool("tree", "/lib/math·add"),
                         "/lib/math·add  rwfunc(2,1,0,3)\n"
                         "(A:int64, B:int64) -> (C:int64)\n"
                         "[1]  add     A, int8(3) -> ‥1\n"
                         "[2]  call    /lib/math·twice, None, \"text\" -> C\n"
                         "[3]  return\n")

    def test_a_struct_shows_its_fields(self):
        for key, literal in {"/lib/p·Point": "def struct(2)", "/lib/p·Point/[0,1]": "param(x:float64)", "/lib/p·Point/[0,2]": "param(y:float64)",
                             "/lib/p·Point/[1,2]": "float64(1.5)"}.items():
            self.tool("set", key, literal)
        self.assertEqual(self.tool("tree", "/lib/p·Point"), "/lib/p·Point  def struct(2)\n{x:float64; y:float64 = 1.5}\n")

    def test_below_other_keys_and_limited(self):
        self.lay_out()
        text = self.tool("tree", "--max", "2", "/lib")
        self.assertIn("   (A:int64, B:int64) -> (C:int64)\n", text)
        self.assertIn("… 1 more rows\n", text)

    def test_hand_written_nonsense_is_shown(self):
        self.tool("set", "/f/[1,-9000000000]", "1")
        self.tool("set", "/f/[9223372036854775807,0]", "opcode(x)")
        self.tool("set", "/f/[99999999999999999999,0]", "2")
        text = self.tool("tree", "/f")
        self.assertIn("[1]", text)
        self.assertIn("[99999999999999999999,0] = 2", text)
        self.assertLess(len(text), 2000)

    def test_frames_show_their_variables(self):
        self.tool("set", "/vt/7/[3,0]/x", "1")
        self.tool("set", "/vt/7/[3,0]/[1,0]/y", "&/vt/7/[3,0]/x")
        text = self.tool("tree", "/vt/7")
        self.assertEqual(text, "/vt/7\n└─ [3,0]\n   ├─ x = 1\n   └─ [1,0]\n      └─ y  -> /vt/7/[3,0]/x\n")


if __name__ == "__main__":
    kvspace_tool.main()
