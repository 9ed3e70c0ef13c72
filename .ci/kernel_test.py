"""The public suite of Jupyter kernels against the installed kernel.

Usage: kernel_test.py [unittest's arguments]. Nothing is skipped.
"""
import sys
import time
import unittest

import jupyter_kernel_test as jkt
from jupyter_client.manager import start_new_kernel


class Kernel(jkt.KernelTests):
    kernel_name = "warpbook"
    language_name = "go"
    file_extension = ".go"

    code_hello_world = 'import "fmt"\nfmt.Println("hello, world")'
    code_stderr = 'import ("fmt"; "os")\nfmt.Fprintln(os.Stderr, "hello, errors")'
    completion_samples = [
        {"text": "strin", "matches": {"string"}},
        {"text": "s := `😀`\nfallth", "matches": {"fallthrough"}},
    ]
    complete_code_samples = ["x := 1", "func f() {\n}", 'import "fmt"', "for i := range 3 {\n\tprintln(i)\n}", "// nothing", ""]
    incomplete_code_samples = ["func f() {", "x := 1 +", "s := `two\nlines", "f(1,", "/* begins", "if x {\n\tfor {"]
    invalid_code_samples = ["x := )", "for x y z {}", 'x := "not closed', "func 5() {}", "}{", "import 7"]
    code_page_something = "fmt.Println?"
    code_generate_error = "var none []int\nnone[3]"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": '"a" + "b"', "result": "ab"},
        {"code": "[]int{1, 2}"},
    ]
    code_display_data = [
        {"code": 'import "warpbook/kernel/display"\ndisplay.Show(display.HTML("<b>bold</b>"))', "mime": "text/html"},
    ]
    code_history_pattern = "6 ? 7"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "len"
    code_clear_output = 'import "warpbook/kernel/display"\ndisplay.Clear(false)'

    def test_usage(self):  # the fields of ipykernel's reply, each of its type
        def kind(value):  # JSON has one type of number: 40.0 percent comes as 40 from some encoders
            return float if type(value) is int else type(value)

        def usage(client):
            for _ in range(2):  # the host's processor time is since the request before
                work_until = time.monotonic() + 0.3  # a reply for an idle host has no host_cpu_percent, also ipykernel's
                while time.monotonic() < work_until:
                    pass
                request = client.session.msg("usage_request", {})
                client.control_channel.send(request)
                reply = client.control_channel.get_msg(timeout=60)["content"]
            return {k: {n: kind(v) for n, v in x.items()} if isinstance(x, dict) else kind(x) for k, x in reply.items() if x is not None}

        manager, client = start_new_kernel(kernel_name="python3")
        try:
            theirs = usage(client)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        ours = usage(self.kc)
        print("usage of ipykernel:", sorted(theirs), "more here:", sorted(ours.keys() - theirs.keys()))
        for name, theirs_kind in theirs.items():
            self.assertEqual(ours.get(name), theirs_kind, name)


class Welcome(jkt.IopubWelcomeTests):
    kernel_name = "warpbook"
    support_iopub_welcome = True


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    sys.exit(not result.wasSuccessful() or bool(result.skipped))
