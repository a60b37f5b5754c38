"""_report.py - what a run did, as plain records: launches, their lines and variables, findings, errors.

The records are those of docs/report.md, read from the stream that a process writes or from a report; the names of counters are
those of docs/metrics.md. What is here beyond them: short names for the usual numbers, launches and lines added up, findings of
several launches put together, and tables for pandas.
"""
import dataclasses
import json

_WAVEFRONTS, _SECTORS = "memory_l1_wavefronts_shared", "memory_l2_theoretical_sectors_global"
_DIVERGENT, _INSTRUCTIONS = "smsp__sass_branch_targets_threads_divergent.sum", "smsp__inst_executed.sum"


class Numbers:
    """The usual numbers of whatever has `metrics`."""

    @property
    def wavefronts(self):
        """Passes through shared memory."""
        return self.metrics.get(_WAVEFRONTS, 0)

    @property
    def conflicts(self):
        """Wavefronts that bank conflicts added: 0 is none."""
        return self.wavefronts - self.metrics.get(_WAVEFRONTS + "_ideal", 0)

    @property
    def sectors(self):
        """32-byte sectors of global memory."""
        return self.metrics.get(_SECTORS, 0)

    @property
    def efficiency(self):
        """The share of these that the bytes need, 0 to 1; None without accesses to global memory."""
        return min(self.metrics.get(_SECTORS + "_ideal", 0) / self.sectors, 1.0) if self.sectors else None

    @property
    def divergent(self):
        """Branches at which a warp's lanes went different ways."""
        return self.metrics.get(_DIVERGENT, 0)

    @property
    def instructions(self):
        """Instructions that warps executed."""
        return self.metrics.get(_INSTRUCTIONS, 0)


SHORT = ("wavefronts", "conflicts", "sectors", "efficiency", "divergent", "instructions")


@dataclasses.dataclass
class Line(Numbers):
    """A source line of a kernel. What has no known line has file "" and line 0."""
    kernel: str
    file: str
    line: int
    metrics: dict = dataclasses.field(repr=False)


@dataclasses.dataclass
class Launch(Numbers):
    kernel: str
    mangled: str
    grid: tuple
    block: tuple
    shared_static: int
    shared_dynamic: int
    regs: int
    status: str
    seconds: float  # on the host; it says nothing of a GPU
    metrics: dict = dataclasses.field(repr=False)
    derived: dict = dataclasses.field(repr=False)
    lines: list = dataclasses.field(repr=False)
    variables: list = dataclasses.field(repr=False)  # of shared memory, as the report has them
    waits: list = dataclasses.field(repr=False)

    @classmethod
    def of(cls, o):
        lines = [Line(o["kernel"], line["file"], line["line"], line["metrics"]) for line in o.get("lines", ())]
        return cls(o["kernel"], o["mangled"], tuple(o["grid"]), tuple(o["block"]), o["shared_static"], o["shared_dynamic"], o["regs"],
                   o["status"], o["seconds"], o["metrics"], o.get("derived", {}), lines, o.get("variables", []), o.get("waits", []))


@dataclasses.dataclass
class Finding:
    """A mistake: docs/check.md has the catalogue."""
    check: str
    kind: str
    severity: str
    kernel: str
    mangled: str = dataclasses.field(repr=False)
    file: str
    line: int
    column: int = dataclasses.field(repr=False)
    other_file: str = dataclasses.field(repr=False)
    other_line: int = dataclasses.field(repr=False)
    other_column: int = dataclasses.field(repr=False)
    variable: str
    count: int
    message: str
    advice: str

    @classmethod
    def of(cls, o):
        return cls(**{field.name: o[field.name] for field in dataclasses.fields(cls)})

    @property
    def name(self):
        return f"{self.check}/{self.kind}"

    def _same(self):
        variable = self.variable.partition("[")[0].partition(",")[0]  # tile[3] and tile[5] are one mistake
        return (self.severity, self.check, self.kind, self.mangled or self.kernel, self.file, self.line, self.other_file,
                self.other_line, variable)

    def __str__(self):
        place = f" at {self.file}:{self.line}" if self.line else ""
        return f"{self.severity}: {self.name} in {self.kernel or 'the program'}{place}: {self.message}; {self.advice}"


@dataclasses.dataclass
class Error:
    """A launch that failed, or a warning of what a GPU lets pass."""
    kernel: str
    status: str
    message: str
    file: str
    line: int
    hint: str

    @classmethod
    def of(cls, o):
        return cls(*(o.get(field.name, "") for field in dataclasses.fields(cls)))

    def __str__(self):
        place = f" at {self.file}:{self.line}" if self.line else ""
        return f"{self.kernel or 'the program'}{place}: {self.message}" + (f"; {self.hint}" if self.hint else "")


@dataclasses.dataclass
class Report:
    """What ran between a beginning and an end. `value`: what the profiled function returned."""
    launches: list = dataclasses.field(default_factory=list)
    findings: list = dataclasses.field(default_factory=list)
    errors: list = dataclasses.field(default_factory=list)
    warnings: list = dataclasses.field(default_factory=list)
    advice: list = dataclasses.field(default_factory=list)  # objects, as docs/report.md has them
    value: object = None
    sources: dict = dataclasses.field(default_factory=dict)  # texts that are in no file, by name: what NVRTC compiled

    @classmethod
    def of(cls, o):
        """Of a report: what --json writes, or mg_report_json."""
        report = cls()
        for kind in ("launches", "findings", "errors", "warnings", "advice"):
            for one in o.get(kind, ()):
                report._add(kind, one)
        report.sources = {source["file"]: source["text"] for source in o.get("sources", ())}
        return report

    def read(self, stream):
        """Adds the records of a stream: bytes of whole lines."""
        kinds = {"launch": "launches", "finding": "findings", "error": "errors", "warning": "warnings", "advice": "advice"}
        for line in stream.splitlines():
            if not line.strip():
                continue
            record = json.loads(line)
            kind = record["record"]
            if kind == "source":
                self.sources[record["file"]] = record["text"]
            elif kind in kinds:
                self._add(kinds[kind], record.get(kind, record) if kind in ("launch", "finding", "advice") else record)

    def _add(self, kind, o):
        if kind == "advice":
            self.advice.append(o)
        elif kind == "findings":
            self._found(Finding.of(o))
        else:
            getattr(self, kind).append(Launch.of(o) if kind == "launches" else Error.of(o))

    def _found(self, finding):
        for have in self.findings:
            if have._same() == finding._same():
                have.count += finding.count
                return
        self.findings.append(finding)

    def extend(self, other):
        """Adds what another report has."""
        for finding in other.findings:
            self._found(dataclasses.replace(finding))
        for kind in ("launches", "errors", "warnings", "advice"):
            getattr(self, kind).extend(getattr(other, kind))
        self.sources.update(other.sources)

    def of_kernel(self, name):
        """Of kernels alone whose name has `name` in it."""
        mine = lambda records: [r for r in records if name in (r["kernel"] if isinstance(r, dict) else r.kernel)]
        return Report(mine(self.launches), mine(self.findings), mine(self.errors), mine(self.warnings), mine(self.advice), self.value, self.sources)

    # ---- added up ----
    @property
    def metrics(self):
        """Counters of all launches together."""
        return _sum(launch.metrics for launch in self.launches)

    @property
    def lines(self):
        """The source lines of all launches, each once, worst first."""
        by_place = {}
        for launch in self.launches:
            for line in launch.lines:
                by_place.setdefault((line.kernel, line.file, line.line), []).append(line.metrics)
        lines = [Line(*place, _sum(metrics)) for place, metrics in by_place.items()]
        return sorted(lines, key=lambda line: -(line.conflicts + line.sectors * (1 - (line.efficiency or 1.0))))

    def frame(self, what="launches"):
        """A pandas table of "launches", "lines" or "findings"."""
        import pandas
        records = getattr(self, what)
        if what == "findings":
            return pandas.DataFrame([dataclasses.asdict(r) for r in records], columns=[f.name for f in dataclasses.fields(Finding)])
        keys = ("kernel", "file", "line") if what == "lines" else ("kernel", "grid", "block", "shared_static", "shared_dynamic", "regs",
                                                                   "status")
        rows = [{**{key: getattr(r, key) for key in (*keys, *SHORT)}, **r.metrics} for r in records]
        return pandas.DataFrame(rows, columns=None if rows else [*keys, *SHORT])


for _name in SHORT:  # a report has the usual numbers as well: of all its launches
    setattr(Report, _name, getattr(Numbers, _name))


def _sum(all_metrics):
    total = {}
    for metrics in all_metrics:
        for name, value in metrics.items():
            total[name] = total.get(name, 0) + value
    return total
