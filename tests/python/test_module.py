"""The module `ptx_toolkit` as it is installed."""

import os
import pickle
import threading
import time
import unittest

import ptx_toolkit
from ptx_toolkit import AssemblerError, InvalidPtxError, PtxError


def kernel(body: str, header: str = ".version 8.6\n.target sm_90\n.address_size 64\n") -> str:
    return f"{header}.visible .entry k(.param .u64 p, .param .align 8 .b8 q[24])\n.maxntid 128\n{{\n{body}\nret;\n}}\n"


WRONG = kernel(".reg .f32 %f<2>; .reg .b32 %r<2>;\nmov.u32 %r1, 1;\nadd.u32 %r1, %r1, %f1;")
GOOD = kernel(".reg .b32 %r<2>;\nmov.u32 %r1, 7;\nbar.sync %r1;")


class Verify(unittest.TestCase):
    def test_findings_have_their_fields(self) -> None:
        (found,) = (each for each in ptx_toolkit.verify(WRONG, file="k.ptx") if each.rule == "operand-type")
        self.assertEqual(
            (found.file, found.line, found.column, found.end_line, found.end_column), ("k.ptx", 9, 19, 9, 22)
        )
        self.assertEqual((found.class_, found.severity, found.code), ("invalid", "error", "P0205"))
        self.assertIn("`%f1` is `.f32`", found.message)
        self.assertIn("declared `.f32` here", [label.message for label in found.labels])
        self.assertEqual(str(found), f"k.ptx:9:19: error[P0205 operand-type]: {found.message}")
        self.assertEqual(found.as_dict()["class"], "invalid")
        self.assertEqual(found.as_dict()["labels"][0]["line"], found.labels[0].line)
        self.assertEqual(pickle.loads(pickle.dumps(found)), found)

    def test_fixes_have_their_edits(self) -> None:
        text = kernel(".reg .f32 %f<2>;\nmov.f32 %f1, 0f00000000;\nadd.ftz.rn.f32 %f1, %f1, %f1;")
        (fix,) = (each.fix for each in ptx_toolkit.verify(text) if each.fix)
        self.assertEqual(fix.applicability, "certain")
        self.assertEqual([edit.line for edit in fix.edits], [9])
        self.assertIn("rn.ftz", fix.edits[0].replacement)

    def test_bytes_are_a_text_too(self) -> None:
        self.assertEqual(ptx_toolkit.verify(WRONG.encode()), ptx_toolkit.verify(WRONG))
        self.assertEqual(ptx_toolkit.verify(bytearray(GOOD.encode())), [])
        self.assertEqual(ptx_toolkit.verify(GOOD.encode() + b"// caf\xe9\n"), [])
        (found,) = ptx_toolkit.verify(b"\x7fELF\2\1\1")
        self.assertEqual(found.rule, "not-text")

    def test_targets_versions_and_levels_are_heeded(self) -> None:
        new = kernel(".reg .b32 %r<3>;\nmov.u32 %r1, 1;\nredux.sync.add.s32 %r2, %r1, -1;", ".version 7.0\n.target sm_80\n")
        self.assertFalse([each for each in ptx_toolkit.verify(new) if each.severity == "error"])
        self.assertTrue(ptx_toolkit.verify(new, target="sm_75"))
        self.assertTrue(ptx_toolkit.verify(new, ["sm_80", "sm_75"]))
        self.assertTrue(ptx_toolkit.verify(new, ptx_version="6.5"))
        self.assertEqual(ptx_toolkit.verify(WRONG, levels={"all": "allow"}), [])
        self.assertTrue(all(each.severity == "warning" for each in ptx_toolkit.verify(WRONG, levels={"all": "warn"})))

    def test_cuda_is_told_by_name_or_language(self) -> None:
        text = '__device__ int f(int a) { int b; asm("add.s32 %0, %1;" : "=r"(b) : "r"(a)); return b; }\n'
        self.assertTrue(ptx_toolkit.verify(text, file="k.cu"))
        self.assertEqual(ptx_toolkit.verify(text, file="k.cu"), [
            each._replace(file="k.cu") for each in ptx_toolkit.verify(text, language="cuda")
        ])

    def test_wrong_arguments_are_told_in_a_sentence(self) -> None:
        for arguments, sentence in [
            ({"target": "sm90"}, "there is no target `sm90`; there is `sm_90`, `sm_90a`"),
            ({"ptx_version": "12.3"}, "there is no PTX version `12.3`"),
            ({"levels": {"operand-tipe": "warn"}}, "did you mean `operand-type`?"),
            ({"levels": {"syntax": "loud"}}, "there is no level `loud`"),
            ({"language": "c"}, "there is no language `c`"),
            ({"compiler": "gcc"}, "there are `nvcc`, `clang`, `both`"),
        ]:
            with self.assertRaises(PtxError) as raised:
                ptx_toolkit.verify(GOOD, **arguments)
            self.assertIn(sentence, str(raised.exception))
        with self.assertRaises(TypeError) as raised_type:
            ptx_toolkit.verify(3)  # type: ignore[arg-type]
        self.assertIn("`str` or `bytes`, not `int`", str(raised_type.exception))

    def test_other_threads_run_meanwhile(self) -> None:
        body = "".join(f"mov.u32 %r{number}, 1;\n" for number in range(1, 200_000))
        text = kernel(f".reg .b32 %r<200000>;\n{body}")
        ended = threading.Event()
        threading.Thread(target=lambda: (ptx_toolkit.verify(text), ended.set())).start()
        steps = 0
        while not ended.is_set():
            time.sleep(0)
            steps += 1
        # With the lock held all the time there would be a step or two.
        self.assertGreater(steps, 50)


class Others(unittest.TestCase):
    def test_format_answers_in_kind(self) -> None:
        untidy = GOOD.replace("mov.u32 %r1, 7", "mov.u32   %r1 ,7")
        self.assertEqual(ptx_toolkit.format(untidy), ptx_toolkit.format(GOOD))
        latin = untidy.encode() + b"// caf\xe9\n"
        self.assertTrue(ptx_toolkit.format(latin).endswith(b"// caf\xe9\n"))
        with self.assertRaises(PtxError) as raised:
            ptx_toolkit.format("add.u32 %r1", language="ptx")
        self.assertIn("syntax error", str(raised.exception))

    def test_format_takes_cuda(self) -> None:
        source = 'int   f() { asm("mov.u32   %0,7;" : "=r"(a)); }'
        self.assertEqual(ptx_toolkit.format(source, language="cuda"), source.replace("mov.u32   %0,7", "mov.u32 %0, 7"))
        with self.assertRaises(PtxError):
            ptx_toolkit.format(source, language="c")  # type: ignore[call-overload]

    def test_canonicalize_raises_the_findings(self) -> None:
        self.assertIn("mov.u32", ptx_toolkit.canonicalize(GOOD))
        with self.assertRaises(InvalidPtxError) as raised:
            ptx_toolkit.canonicalize(WRONG)
        self.assertEqual([found.rule for found in raised.exception.findings], ["operand-type"])
        self.assertIn("1 error and no canonical form", str(raised.exception))
        self.assertEqual(str(pickle.loads(pickle.dumps(raised.exception))), str(raised.exception))

    def test_needs_and_their_causes(self) -> None:
        needs = ptx_toolkit.needs(kernel(".reg .b32 %r<3>;\nmov.u32 %r1, 1;\nredux.sync.add.s32 %r2, %r1, -1;"))
        self.assertEqual(needs.version, "7.0")
        self.assertIn("sm_80", needs.targets)
        self.assertNotIn("sm_75", needs.targets)
        (cause,) = (cause for cause in needs.causes if "redux" in cause.what)
        self.assertEqual((cause.line, cause.version), (9, "7.0"))

    def test_functions_have_their_parts(self) -> None:
        text = GOOD + ".extern .func (.param .b32 r) g(.param .b64 a);\n"
        entry, func = ptx_toolkit.functions(text)
        self.assertEqual((entry.name, entry.kind, entry.linkage, entry.defined), ("k", "entry", "visible", True))
        self.assertEqual((entry.line, entry.instructions, entry.directives), (4, 3, (".maxntid 128",)))
        self.assertEqual([(each.name, each.type, each.bytes, each.align) for each in entry.parameters],
                         [("p", ".u64", 8, 8), ("q", ".b8", 24, 8)])
        self.assertEqual((func.name, func.kind, func.linkage, func.defined), ("g", "func", "extern", False))
        self.assertEqual([each.name for each in func.returns], ["r"])

    def test_report_or_why_there_is_none(self) -> None:
        if "PTXAS" not in os.environ:
            with self.assertRaises(AssemblerError) as raised:
                ptx_toolkit.report(GOOD, file="k.ptx", backend="ptxas")
            self.assertIn("the `ptxas` back end is missing", str(raised.exception))
            return
        report = ptx_toolkit.report(GOOD, file="k.ptx", backend="ptxas")
        self.assertEqual((report.file, report.backend, report.accepted), ("k.ptx", "ptxas", True))
        self.assertEqual(report.functions[0].name, "k")
        refused = ptx_toolkit.report(WRONG, backend="ptxas")
        self.assertFalse(refused.accepted)
        self.assertIn(9, [line.line for line in refused.log])


if __name__ == "__main__":
    unittest.main()
