"""Prints what the language server offers in three places: an opcode, a special register, a directive."""

import json
import subprocess
import sys

TEXT = """.version 9.5
.target sm_90a
.address_size 64
.entry k()
.fold
{
	.reg .b32 %r<2>;
	fold
	mov.u32 %r1, %foldid
	ret;
}
"""
URI = "file:///tmp/complete.ptx"
server = subprocess.Popen([sys.argv[1], "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(message):
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
    server.stdin.flush()


def answer(number):
    while True:
        length = 0
        while line := server.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(server.stdout.read(length))
        if message.get("id") == number and "method" not in message:
            return message["result"]


send({"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}})
answer(0)
send({"method": "initialized", "params": {}})
document = {"uri": URI, "languageId": "ptx", "version": 1, "text": TEXT}
send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
for number, word in enumerate([".fold", "\tfold", "%foldid"], start=1):
    line = next(index for index, text in enumerate(TEXT.splitlines()) if text.endswith(word))
    position = {"line": line, "character": len(TEXT.splitlines()[line])}
    parameters = {"textDocument": {"uri": URI}, "position": position}
    send({"id": number, "method": "textDocument/completion", "params": parameters})
    found = answer(number)
    items = found["items"] if isinstance(found, dict) else found or []
    print([item["label"] for item in items if "fold" in item["label"]])
server.kill()
