#!/usr/bin/env python3
"""Shows that names.py finds the names of guides that no header has, and those of headers that no guide has."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

NAMES = pathlib.Path(__file__).resolve().parent / "names.py"
HEADER = """
namespace iwarp::verbs {
namespace detail { class hidden { int secret; }; }
struct Base { int inherited() const; };
/// ghost() is spoken of only.
class IWARP_API Widget : public Base {
 public:
  int turn(int degrees);  // not ghost()
};
enum class Opcode : unsigned { kTurn = 1, kStop };
using Other = Widget;
template <typename Token> auto async_turn(Token&& token);
}
"""
WHOLE_GUIDE = "`Widget`, `Base`, `Opcode`, `kTurn`, `kStop`, `async_turn`\n"


class Names(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)

    def run_on(self, guide, header=HEADER, seam=""):
        for name, text in (("guide.md", guide), ("header.hpp", header), ("seam.hpp", seam)):
            (self.top / name).write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, NAMES, "--headers", self.top / "header.hpp", "--seam", self.top / "seam.hpp",
                               "--guides", self.top / "guide.md"], capture_output=True, text=True)
        return done.returncode, done.stderr

    def assert_agrees(self, more="", **texts):
        self.assertEqual(self.run_on(WHOLE_GUIDE + more, **texts), (0, ""))

    def assert_unknown(self, code, name):
        status, said = self.run_on(f"{WHOLE_GUIDE}text `{code}`\n")
        self.assertEqual((status, said), (1, f"{self.top}/guide.md:2: no public header has `{name}`\n"))

    def assert_untold(self, guide, name):
        status, said = self.run_on(guide)
        self.assertEqual((status, said), (1, f"no guide has the public name `{name}`\n"))

    def test_what_is_there_is_known(self):
        self.assert_agrees("`Widget::turn()` `iwarp::verbs::Widget` `turn(90)` `Opcode::kTurn` `iwarp::verbs::Opcode::kStop`")

    def test_members_of_bases_and_of_other_names_are_known(self):
        self.assert_agrees("`Widget::inherited()` `Other::turn`")

    def test_foreign_names_are_left_alone(self):
        self.assert_agrees("`std::span` `boost::asio::buffer(text)` `poll(2)` `kTu…`")

    def test_what_the_guides_own_blocks_have_is_known(self):
        self.assert_agrees("```cpp\nconst int kMine = 1;\n```\n`kMine`")

    def test_blocks_are_the_compilers(self):
        self.assert_agrees("```cpp\nWidget::nothing();\n```\n")

    def test_wrong_members_are_found(self):
        self.assert_unknown("Widget::spin()", "Widget::spin")
        self.assert_unknown("Opcode::kSpin", "Opcode::kSpin")
        self.assert_unknown("Gadget::turn", "Gadget::turn")

    def test_wrong_names_are_found(self):
        self.assert_unknown("iwarp::verbs::Gadget", "iwarp::verbs::Gadget")
        self.assert_unknown("kSpin", "kSpin")
        self.assert_unknown("spin()", "spin")
        self.assert_unknown("async_spin", "async_spin")

    def test_what_only_comments_and_details_have_is_unknown(self):
        self.assert_unknown("ghost()", "ghost")
        self.assert_unknown("hidden::secret", "hidden::secret")

    def test_types_operations_and_enumerators_have_to_be_told(self):
        self.assert_untold("`Base` `Opcode` `kTurn` `kStop` `async_turn`", "Widget")
        self.assert_untold("`Widget` `Base` `Opcode` `kTurn` `kStop`", "async_turn")
        self.assert_untold("`Widget` `Base` `Opcode` `kTurn` `async_turn`", "kStop")

    def test_the_seam_is_known_and_need_not_be_told(self):
        self.assert_agrees("`Cq::poll`", seam="class Cq { int poll(); };\n class Pd {};")


if __name__ == "__main__":
    unittest.main()
