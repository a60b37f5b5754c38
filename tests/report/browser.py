"""browser.py - a headless Chromium that a test clicks in: the DevTools protocol over a WebSocket, in plain Python.

    with Browser(chromium) as page:
        page.open("file:///x.html"); page.click("a.access"); page.text("#picture"); page.screenshot("x.png")
"""
import base64
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time


def find():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    def __init__(self, program, width=1400, height=1000):
        self.folder = tempfile.mkdtemp(prefix="margay-browser-")
        self.errors, self.requests, self.number = [], [], 0
        self.child = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--remote-debugging-port=0", f"--user-data-dir={self.folder}",
             f"--window-size={width},{height}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def port_of():  # the file may be there and not whole yet
            port, _ = (pathlib.Path(self.folder) / "DevToolsActivePort").read_text().split("\n", 1)
            return port

        port = self.wait(port_of)
        page = self.wait(lambda: next(t for t in json.loads(self.get(int(port), "/json")) if t["type"] == "page"))
        self.connect(int(port), re.sub(r"^ws://[^/]*", "", page["webSocketDebuggerUrl"]))
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    @staticmethod
    def wait(what, seconds=30):
        end = time.time() + seconds
        while True:
            try:
                return what()
            except (OSError, StopIteration, ValueError):
                if time.time() > end:
                    raise
                time.sleep(0.05)

    @staticmethod
    def get(port, path):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while True:
                more = s.recv(65536)
                if not more:
                    break
                answer += more
                head, _, body = answer.partition(b"\r\n\r\n")
                length = re.search(rb"content-length: *(\d+)", head, re.I)
                if length and len(body) >= int(length.group(1)):
                    break
        return answer.partition(b"\r\n\r\n")[2].decode()

    def connect(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)

    def read(self, n):
        data = b""
        while len(data) < n:
            more = self.socket.recv(n - len(data))
            if not more:
                raise OSError("the browser is gone")
            data += more
        return data

    def message(self):
        text = b""
        while True:
            first, second = self.read(2)
            length = second & 127
            if length > 125:
                length = struct.unpack(">H" if length == 126 else ">Q", self.read(2 if length == 126 else 8))[0]
            text += self.read(length)
            if first & 128:
                return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        body = json.dumps({"id": self.number, "method": method, "params": params}).encode()
        size = len(body)
        head = struct.pack(">BB", 129, 128 | size) if size < 126 else (
            struct.pack(">BBH", 129, 254, size) if size < 65536 else struct.pack(">BBQ", 129, 255, size))
        self.socket.sendall(head + b"\0\0\0\0" + body)
        while True:
            m = self.message()
            if m.get("id") == self.number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            if m.get("method") == "Runtime.exceptionThrown":
                self.errors.append(m["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif m.get("method") == "Log.entryAdded" and m["params"]["entry"]["level"] == "error":
                self.errors.append(m["params"]["entry"]["text"])
            elif m.get("method") == "Network.requestWillBeSent":
                self.requests.append(m["params"]["request"]["url"])

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", script))
        return result["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url="about:blank")  # an address that differs in its fragment alone loads nothing
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def wait_for(self, condition, seconds=20):
        end = time.time() + seconds
        while not self.run(condition):
            if time.time() > end:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def settle(self):
        self.run("new Promise(done => setTimeout(() => requestAnimationFrame(() => done(1)), 60))")

    def click(self, selector, nth=0):
        """A click of the mouse in the middle of the element, as a person would: what lies above it gets it."""
        place = self.run(f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{nth}]; if (!e) return null;"
                         "e.scrollIntoView({block: 'center', inline: 'center'}); const r = e.getClientRects()[0];"
                         "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        assert place, f"nothing to click: {selector}"
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        self.settle()

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def text(self, selector):
        return self.run(f"(document.querySelector({json.dumps(selector)}) || {{innerText: ''}}).innerText")

    def count(self, selector):
        return self.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.settle()

    def screenshot(self, file):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
