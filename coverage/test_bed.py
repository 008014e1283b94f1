#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the test bed's own scripts: what counts as passed, failed and skipped, the floors, wrong usage of bed."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import mutants  # noqa: E402
import report  # noqa: E402
import requirements  # noqa: E402
import style  # noqa: E402

CMOCKA = "[==========] 4 test(s) run.\n[  PASSED  ] 3 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] tap\n"


def result(name, verdict, stdout="", stderr=""):
    return {"name": name, "result": verdict, "stdout": stdout, "stderr": stderr}


class Summary(unittest.TestCase):
    def run_on(self, *results):
        with tempfile.TemporaryDirectory() as d:
            logs = pathlib.Path(d, "meson-logs")
            logs.mkdir()
            (logs / "testlog.json").write_text("".join(json.dumps(r) + "\n" for r in results))
            r = subprocess.run([sys.executable, HERE / "summary.py", d], capture_output=True, text=True)
            return r.returncode, r.stdout.splitlines()

    def test_skip_is_counted_and_gives_its_reason(self):
        """TST-1: what can not run is skipped with its reason, never passed."""
        code, out = self.run_on(result("a", "OK"), result("nic/echo", "SKIP", stderr="NONIC_NIC is not set\n"))
        self.assertEqual((code, out[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("  nic/echo: NONIC_NIC is not set", out)

    def test_cases_of_a_cmocka_program_count_one_by_one(self):
        """TST-1"""
        code, out = self.run_on(result("unit/x", "OK", CMOCKA))
        self.assertEqual((code, out[-1]), (0, "3 passed, 0 failed, 1 skipped"))

    def test_any_bad_verdict_fails_the_run(self):
        """TST-1"""
        for verdict in ("FAIL", "TIMEOUT", "ERROR", "UNEXPECTEDPASS"):
            code, out = self.run_on(result("a", "OK"), result("b", verdict, "why it failed"))
            self.assertEqual((code, out[-1]), (1, "1 passed, 1 failed, 0 skipped"))
            self.assertIn("why it failed", out)

    def test_a_run_without_tests_is_not_a_success(self):
        """TST-1"""
        self.assertEqual(self.run_on(), (1, ["0 passed, 0 failed, 0 skipped"]))


class Coverage(unittest.TestCase):
    def test_tally_adds_up_rooms(self):
        """TST-3: lines and branches, per room."""
        with tempfile.NamedTemporaryFile("w", suffix=".info") as f:
            f.write(f"SF:{report.ROOT}/core/base/csum.c\nBRF:4\nBRH:3\nLF:10\nLH:9\nend_of_record\n"
                    f"SF:{report.ROOT}/core/base/hash.c\nLF:10\nLH:5\nend_of_record\n")
            f.flush()
            self.assertEqual(dict(report.tally(pathlib.Path(f.name))), {"core/base": [20, 14, 4, 3]})

    def test_floors_are_at_least_what_was_promised(self):
        """TST-3, and a stack with TCP: 92 % of lines, 85 % of branches."""
        floors = report.floors()
        self.assertGreaterEqual(floors["lines"], 92)
        self.assertGreaterEqual(floors["branches"], 85)


class Mutants(unittest.TestCase):
    """SIM-7: a mutant is a bug, the tests that may catch it, and a patch of the product."""

    def mutant(self, text):
        with tempfile.TemporaryDirectory() as d:
            p = pathlib.Path(d, "m.patch")
            p.write_text(text)
            return mutants.Mutant(p)

    def test_fields_and_files_are_read(self):
        """SIM-7"""
        m = self.mutant("Bug: ages\n  unsigned\nTests: a/b c\n--- a/core/x.c\n+++ b/core/x.c\n")
        self.assertEqual((m.bug, m.tests, m.files), ("ages unsigned", ["a/b", "c"], ["core/x.c"]))

    def test_a_patch_without_a_field_or_outside_the_product_is_refused(self):
        """SIM-7"""
        diff = "--- a/core/x.c\n+++ b/core/x.c\n"
        for text, word in (("Tests: a\n" + diff, "Bug"), ("Bug: b\n" + diff, "Tests"), ("Bug: b\nTests: a\n", "diff"),
                           ("Bug: b\nTests: a\n--- a/unit/x.c\n+++ b/unit/x.c\n", "unit/x.c")):
            with self.assertRaisesRegex(mutants.Broken, word):
                self.mutant(text)

    def test_each_mutant_of_the_tree_applies(self):
        """SIM-7: the product moves; a patch that no longer fits says so here."""
        for p in sorted(mutants.MUTANTS.glob("*.patch")):
            mutants.Mutant(p)
            code, out = mutants.run(["patch", "-p1", "-s", "-f", "--dry-run", "-i", str(p)], mutants.ROOT)
            self.assertEqual(code, 0, f"{p.name}: {out}")

    def lab(self, verdict):
        class Fake(mutants.Lab):
            def __init__(self, copy):
                self.copy, self.build, self.tests = copy, copy, {}

            def compile(self, tests):
                return True, ""

            def verdict(self, test):
                return verdict(self.copy)
        return Fake

    def test_a_caught_mutant_names_its_test_and_the_copy_is_whole_again(self):
        """SIM-7"""
        self.assertEqual(self.try_on(lambda c: "it fails" if "two" in (c / "core/x.c").read_text() else None), ("t", "it fails"))

    def test_a_mutant_that_no_test_catches_survives(self):
        """SIM-7"""
        self.assertIsNone(self.try_on(lambda c: None))

    def try_on(self, verdict):
        with tempfile.TemporaryDirectory() as d:
            root, copy = pathlib.Path(d, "root"), pathlib.Path(d, "copy")
            for t in (root, copy):
                (t / "core").mkdir(parents=True)
                (t / "core" / "x.c").write_text("one\n")
            p = pathlib.Path(d, "m.patch")
            p.write_text("Bug: b\nTests: t\n--- a/core/x.c\n+++ b/core/x.c\n@@ -1 +1 @@\n-one\n+two\n")
            before, mutants.ROOT = mutants.ROOT, root
            try:
                hit = mutants.try_one(self.lab(verdict)(copy), mutants.Mutant(p))
            finally:
                mutants.ROOT = before
            self.assertEqual((copy / "core/x.c").read_text(), "one\n")
            return hit


class Rules(unittest.TestCase):
    def breaches(self, path, text):
        found = []
        style.check_c(pathlib.Path(path), text, lambda p, n, why: found.append(why))
        return found

    def test_core_may_not_reach_around_the_door(self):
        """SHM-1"""
        head = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
        for line in ("#include <rte_mbuf.h>", '#include "rte_ring.h"', "\tclock_gettime(CLOCK_MONOTONIC, &t);",
                     "\tusleep(5);", "\tx = rand();"):
            self.assertTrue(self.breaches("core/stack/x.c", head + line + "\n"), line)
            self.assertFalse(self.breaches("shim/dpdk/x.c", head + line + "\n"), line)
        self.assertFalse(self.breaches("core/stack/x.c", head + "/* like rand() */\n"))

    def test_long_functions_and_files_are_found(self):
        head = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
        self.assertTrue(self.breaches("unit/x.c", head + "void\nf(void)\n{\n" + "\tx++;\n" * 71 + "}\n"))
        self.assertFalse(self.breaches("unit/x.c", head + "void\nf(void)\n{\n" + "\tx++;\n" * 70 + "}\n"))
        self.assertTrue(self.breaches("unit/x.c", head + "\n" * 800))
        self.assertTrue(self.breaches("unit/x.c", "int x;\n"))

    def test_every_promised_id_is_one_the_table_understands(self):
        for line in (HERE / "promised").read_text().splitlines():
            line = line.split("#")[0].strip()
            if line:
                self.assertTrue(requirements.ID.fullmatch(line), line)


class Bed(unittest.TestCase):
    def bed(self, *args):
        return subprocess.run([HERE.parent / "bed", *args], capture_output=True, text=True)

    def test_every_command_has_help(self):
        for cmd in ("demo", "test", "bench", "coverage", "nic"):
            r = self.bed(cmd, "--help")
            self.assertEqual(r.returncode, 0)
            self.assertTrue(r.stdout.startswith(f"usage: ./bed {cmd}"), r.stdout)

    def test_wrong_usage_names_the_word_and_exits_2(self):
        """TST-1"""
        for args in (["test", "--suite", "unti"], ["test", "--setup", "msan"], ["bench", "tpc"], ["tset"],
                     ["coverage", "--html"], ["demo", "now"]):
            r = self.bed(*args)
            self.assertEqual(r.returncode, 2, args)
            self.assertIn(args[-1], r.stderr)


if __name__ == "__main__":
    unittest.main()
