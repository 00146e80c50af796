"""Conversion of logs: many inputs at once, with a summary, a progress bar, and what makes a job resumable."""

from __future__ import annotations

import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import has_magic
from typing import Any, NoReturn

from translate import codec, jsontext
from translate.logs import Job, Layout, Settings, Summary, convert_logs
from translate.logs.archives import is_archive
from translate.logs.containers import TOOLS
from translate.logs.guard import BadPlan, Busy, OutputExists, lock_path, names
from translate.logs.job import left_of
from translate.logs.layout import RECORDS, Container
from translate.logs.manifest import Entry, OtherJob
from translate.logs.outputs import temporary
from translate.logs.places import RECORD, InputFault, MissingExtra, identity, is_compressed
from translate.logs.plan import Plan, is_folder, manifest_path, plan
from translate.logs.processes import ProcessEnded
from translate.logs.recognise import NotRecognised, advice, of_head
from translate.logs.rejects import SUFFIX
from translate.logs.stats import Stats, stats_of
from translate.logs.work import Task

from ._files import STANDARD, Input, Output, print_lines
from ._formats import readable, writable
from ._pipes import convert as pipe
from ._pipes import first, holds_many
from ._status import InputError, OutputError, Status, Terminated, UsageError, one_line
from ._values import limits_of

_RECORDS = ("container", "stream_field", "unit_field", "limit", "verify", "where")
_JOBS = ("jobs", "resume", "force", "dry_run")


def convert_any(args: Namespace, plain: Callable[[Namespace, Input | None], Status]) -> Status:
    """Convert what is asked for: logs in a job, logs that are piped through, or one ``plain`` stream.

    A file is known by what it holds, whatever it is called, and one is treated as many are.
    """
    args.file = args.files[0] if args.files else STANDARD
    through = len(args.files) < 2 and STANDARD in (args.file, args.output) and not _is_several(args.file)
    many = args.rejects is not None or any(getattr(args, name) for name in (*_RECORDS, *_JOBS))
    many = many or (args.file != STANDARD and holds_many(args.file, args.src))
    if _is_packed(args.output) or (not through and (many or _is_several(*args.files))):
        return convert(args)
    _refuse_useless(args)
    if not many and (args.file != STANDARD or args.src != "auto"):
        return plain(args, None)
    _refuse(args, _JOBS, "what is piped through is no job")
    with Input(args.file) as source:
        head = first(source)
        if not many:
            many = is_compressed(head)
            with suppress(NotRecognised):
                many = many or of_head(head, None).layout.container != "streams"
        if not many:
            source.unread(head)
            return plain(args, source)
        _refuse(args, ("errors",), "streams of logs that fail are put aside")
        with _terminable(), _problems():
            return pipe(args, _layout(args), _settings(args), source, head)


def _is_several(*names: str) -> bool:
    """Whether names are not those of one file."""
    return len(names) > 1 or any(_is_elsewhere(name) for name in names)


def _is_elsewhere(name: str) -> bool:
    return "://" in name or os.path.isdir(name) or is_archive(name) or (has_magic(name) and not os.path.lexists(name))


def _is_packed(output: str) -> bool:
    """Whether an output is a folder, or its name says what it is to be."""
    return output.endswith((".gz", ".zst", ".zstd", ".parquet", "/")) or "://" in output


def _refuse(args: Namespace, names: Sequence[str], why: str) -> None:
    """Refuse options that would have no effect."""
    for name in names:
        if getattr(args, name) not in (None, False, "raise"):
            raise UsageError(f"--{name.replace('_', '-')} has no effect: {why}")


def _refuse_useless(args: Namespace) -> None:
    if not args.stream_field and not args.unit_field:
        _refuse(args, ("id_field",), "it is one of records, whose --stream-field or --unit-field is not named")
    if not args.unit_field:
        _refuse(args, ("order_field", "gaps"), "it is one of units, whose --unit-field is not named")


def convert(args: Namespace) -> Status:
    """Convert logs."""
    if args.output == STANDARD or not args.files or STANDARD in args.files:
        raise UsageError("logs are converted from files, folders, globs or URLs into a file or folder: -o OUT")
    _refuse_useless(args)
    _refuse(args, ("errors",), "streams of logs that fail are put aside")
    _refuse(args, ("rejects",), "a job keeps them beside each output, in OUT.rejects.jsonl")
    _refuse(args, ("report",) if args.dry_run else (), "a dry run has none")
    job = _job(args)
    with _problems():
        with _finding():
            made = plan(job)
        if args.dry_run:
            return _dry(job, made)
        _check_report(args.report, job, made)
        with _reporting(args.report) as report:
            with _terminable(), _progress(made) as seen:
                summary = convert_logs(job, _told if args.verbose else _untold, made, seen)
            report(_report(summary))
    if not args.quiet:
        print(_summary(summary), file=sys.stderr)
    elif summary.failed:
        print("\n".join(_failed(summary)), file=sys.stderr)
    if summary.counts.rejected > summary.counts.converted:
        _advise(made.tasks[0])
    return _status(summary.faults, summary.failed, summary.counts.rejected)


def _status(faults: int, failed: Collection[str], rejected: int) -> Status:
    """The worst of what happened: a fault of the program is never taken for one of the streams."""
    if faults:
        return Status.FAULT
    return Status.FILES if failed else Status.FAILED if rejected else Status.FINE


def stats(args: Namespace) -> Status:
    """Print what logs hold."""
    args.dst, args.output, args.verify, args.loss, args.model = args.dst or "events-jsonl", "", False, "carry", None
    args.clock, args.jobs, args.resume, args.force, args.limit = None, None, False, False, args.limit
    _refuse_useless(args)
    job = _job(args)
    with _problems(), _finding():
        found = stats_of(job)
    with Output(STANDARD) as target:
        print_lines(target, jsontext.dumps_strict(found.as_json()).decode() if args.json else _table(found))
    for path, why in found.failed.items():
        print(one_line(f"{path}: {why}"), file=sys.stderr)
    return _status(found.counts.faults + found.faults, found.failed, found.counts.rejected)


def _job(args: Namespace) -> Job:
    return Job(
        args.files,
        args.output,
        _layout(args),
        _settings(args),
        jobs=args.jobs or 1,
        resume=args.resume,
        force=args.force,
        limit=args.limit,
        record=args.max_record or RECORD,
    )


def _settings(args: Namespace) -> Settings:
    layout = _layout(args)
    # records may hold objects
    records = layout is None or layout.container != "streams"
    codec(args.dst)
    try:
        return Settings(
            args.src if args.src == "auto" else readable(args.src),
            args.dst if records else writable(args.dst),
            loss=args.loss,
            strict=args.strict,
            model=args.model,
            limits=limits_of(args),
            clock=args.clock,
            verify=args.verify,
            where=args.where,
        )
    except (ValueError, MissingExtra) as error:
        raise UsageError(str(error)) from None


def _layout(args: Namespace) -> Layout | None:
    if args.stream_field and args.unit_field:
        raise UsageError("records hold streams or units: --stream-field or --unit-field, not both")
    field = args.unit_field or args.stream_field
    if field is None:
        if args.container in RECORDS and args.src != "auto":
            raise UsageError("records: name the field of their streams, --stream-field, or units, --unit-field")
        if args.container in TOOLS:
            return Layout(args.container)
        return Layout("streams") if args.container == "streams" or args.src != "auto" else None
    if args.container not in (None, *RECORDS):
        raise UsageError(f"--container {args.container}: there are no fields to name")
    container: Container = args.container or "records"
    units = args.unit_field is not None
    try:
        return Layout(container, field, units=units, id=args.id_field, order=args.order_field, gaps=args.gaps)
    except ValueError as error:
        raise UsageError(str(error)) from None


@contextmanager
def _problems() -> Iterator[None]:
    """What ends a job, as what the command line says."""
    try:
        yield
    except OutputExists as error:
        raise UsageError(f"{error}; --force writes over it, --resume goes on with a job that was ended") from None
    except (BadPlan, Busy, OtherJob, MissingExtra) as error:
        raise UsageError(str(error)) from None
    except ProcessEnded as error:
        raise OutputError(f"{error}; --resume goes on") from None
    except OSError as error:
        raise OutputError(f"cannot write {error.filename or 'the output'}: {error.strerror or error}") from None


@contextmanager
def _finding() -> Iterator[None]:
    """Inputs are looked for."""
    try:
        yield
    except InputFault as fault:
        raise InputError(str(fault)) from None
    except OSError as error:
        raise InputError(f"cannot read {error.filename or 'the inputs'}: {error.strerror or error}") from None


def _check_report(path: str | None, job: Job, made: Plan) -> None:
    """A report is none of the files that are read or written. It may lie in a folder that the job makes."""
    if path in (None, STANDARD):
        return
    manifest = manifest_path(job)
    ours = {manifest, temporary(manifest), lock_path(manifest), *made.failed}
    ours.update(name for task in made.tasks for name in (task.place.path, *names(task.output)))
    if identity(path or "") in map(identity, ours):
        raise UsageError(f"the report would be written over {path}")
    folder = os.path.dirname(path or "")
    if folder and f"{identity(folder)}/".startswith(f"{identity(job.output)}/") and is_folder(job):
        os.makedirs(folder, exist_ok=True)


@contextmanager
def _reporting(path: str | None) -> Iterator[Callable[[bytes], None]]:
    """What writes the report, open from the start: a job is not done for a report that cannot be written."""
    if path is None:
        yield lambda data: None
        return
    with Output(path, errors=True) as target:

        def write(data: bytes) -> None:
            target.clear()
            target.write(data)

        yield write


def _dry(job: Job, made: Plan) -> Status:
    _, done = left_of(job, made)
    with Output(STANDARD) as target:
        for task in made.tasks:
            what = made.found.get(task.place.path, task.settings.src)
            before = ", done before" if task.place.path in done else ""
            print_lines(target, one_line(f"{task.place.path} -> {task.output} ({what}{before})"))
    for path, why in made.failed.items():
        print(one_line(f"{path}: {why}"), file=sys.stderr)
    return Status.FILES if made.failed else Status.FINE


@contextmanager
def _terminable() -> Iterator[None]:
    """A job that is told to end, by SIGTERM, cleans up as an interrupted one does."""

    def end(number: int, frame: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        # others cannot set signals
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _progress(made: Plan) -> Iterator[Callable[[int], None] | None]:
    """A progress bar of bytes, on a terminal, where ``rich`` is installed."""
    try:
        if not sys.stderr.isatty():
            raise ImportError
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield None
        return
    columns = (TextColumn("converting"), BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    total = sum(task.state.size for task in made.tasks if task.state is not None)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("converting", total=total)
        yield lambda done: progress.update(bar, completed=done)


def _summary(summary: Summary) -> str:
    counts = summary.counts
    rows = [
        ("inputs", f"{len(summary.entries)} done ({summary.skipped} before), {len(summary.failed)} not readable"),
        ("streams", f"{counts.streams_in:,} in, {counts.converted:,} converted, {counts.rejected:,} rejected"),
        ("units", f"{counts.units_in:,} in, {counts.units_out:,} out"),
    ]
    if summary.faults:
        rows.append(("faults", f"{summary.faults:,} of the program itself"))
    if counts.records_in or counts.left_out:
        said = f", {counts.left_out:,} left out" if counts.left_out else ""
        rows.insert(2, ("records", f"{counts.records_in:,} in, {counts.records_rejected:,} rejected{said}"))
    for name, number in sorted(counts.losses.items()):
        kind, _, what = name.partition(": ")
        rows.append((kind, f"{what}: {number:,}"))
    lines = [f"{name:10}{text}" for name, text in rows]
    lines += [f"{'took':10}{one_line(path)} for {one_line(what)}" for path, what in list(summary.found.items())[:10]]
    rejects = [entry.output + SUFFIX for entry in summary.entries if entry.counts.rejected]
    lines += [f"{'rejects':10}{one_line(path)}" for path in rejects[:10]]
    return "\n".join([*lines, *_failed(summary)])


def _advise(task: Task) -> None:
    """Say what an input is, where most streams could not be read as it was asked for."""
    with suppress(InputFault, OSError):
        said = advice(task.place, task.layout, task.settings.src)
        if said is not None:
            print(one_line(said), file=sys.stderr)


def _failed(summary: Summary) -> list[str]:
    return [f"{'failed':10}{one_line(f'{path}: {why}')}" for path, why in summary.failed.items()]


def _untold(entry: Entry) -> None:
    """Say nothing of an input that is done."""


def _told(entry: Entry) -> None:
    said = f"{entry.counts.converted:,} converted, {entry.counts.rejected:,} rejected"
    print(one_line(f"{entry.input} -> {entry.output}: {said}"), file=sys.stderr)


def _report(summary: Summary) -> bytes:
    """One line an input, a summary as the last."""
    lines: list[dict[str, Any]] = [{"kind": "input", **entry.as_json()} for entry in summary.entries]
    lines += [{"kind": "failed", "input": path, "why": why} for path, why in summary.failed.items()]
    lines.append({"kind": "summary", "skipped": summary.skipped, "counts": summary.counts.as_json()})
    return b"".join(jsontext.dumps_strict(line) + b"\n" for line in lines)


def _table(found: Stats) -> str:
    rows = [(kind, name, number) for kind, counter in found.counters() for name, number in counter.most_common()]
    width = max((len(name) for _, name, _ in rows), default=0)
    return "\n".join(f"{kind:16}{name:{width}}  {number:>12,}" for kind, name, number in rows)
