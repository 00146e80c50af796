"""How the project is laid out, and what its wheel holds."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

import translate
from tests.public_api import PINNED, public_api

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "translate"
CODECS = ROOT / "codecs" / "translate_codecs"
NAMES = """
    Annotate Append CarryError Close Codec CodecError DecodeError Decoder Encoder Event Failure Fault Finding Finish
    Foreign GrammarError Handover LimitExceeded Limits LossError Mended MisuseError Model Open Options Ping Reason
    Report Said Start State StreamStopped StreamTimeout TokenCounts ToolArgumentsError Trace TranslateError
    Translator TruncatedStream UnknownFormat UpstreamFailure Usage Written assemble check codec convert decode encode
    formats register Stream AsyncStream Format ByteFormat ObjectFormat EventFormat ModelOption LossPolicy ErrorPolicy
    JsonObject ConvertOptions ReadOptions WriteOptions
    convert_request convert_answer decode_request encode_request decode_answer encode_answer Profile RequestError
    UnsupportedFormat Exchange convert_error convert_messages decode_error encode_error fold unfold Answer Request
"""
"""The public interface: names may be added, and are taken away only with a new major version."""


def sources() -> list[Path]:
    folders = (ROOT / name for name in ("translate", "codecs", "tests", "examples", "benchmarks"))
    return sorted(path for folder in folders for path in folder.rglob("*.py") if "build" not in path.parts)


def imported(path: Path) -> set[str]:
    """The modules that a file imports, relative ones by their name in its package."""
    package = path.relative_to(ROOT / "codecs" if CODECS in path.parents else ROOT).parts[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = [*package[: len(package) - node.level + 1], *filter(None, [node.module])] if node.level else []
            base = ".".join(parts) or node.module or ""
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return found


def run_time_imports(path: Path) -> set[str]:
    """The modules that a file imports as it is imported: none for types alone, none within functions."""
    package = path.relative_to(ROOT).parts[:-1]
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            parts = [*package[: len(package) - node.level + 1], *filter(None, [node.module])] if node.level else []
            base = ".".join(parts) or node.module or ""
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def test_codecs_is_a_folder_of_packages_and_no_package() -> None:
    assert [path.name for path in (ROOT / "codecs").iterdir() if path.is_file()] == []
    assert list((ROOT / "codecs").rglob("conftest.py")) == []


def test_no_module_is_named_as_the_function() -> None:
    assert not (CORE / "convert.py").exists(), "it would shadow translate.convert"


def test_the_core_has_rooms() -> None:
    """What stands in ``translate/`` itself is what people import, and the contract; all else has a room."""
    modules = {path.stem for path in CORE.glob("*.py")}
    assert modules == {"__init__", "__main__", "api", "codec", "errors", "jsontext", "limits", "registry"}


FLOORS = (
    ("errors", "limits"),
    ("jsontext",),
    ("algebra",),
    ("shapes", "carry"),
    ("codec",),
    ("registry",),
    ("engine",),
    ("messages",),
    ("recognise",),
    ("api",),
    ("compare", "testing", "conformance"),
    ("inspect", "logs"),
    ("adapters",),
    ("cli",),
)
"""The rooms of ``translate/``, from the ground up: each imports from lower ones alone, and not from its neighbours."""


def test_imports_run_downwards() -> None:
    floor = {room: n for n, rooms in enumerate(FLOORS) for room in rooms}
    upwards = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted(CORE.rglob("*.py"))
        if (room := path.relative_to(CORE).parts[0].removesuffix(".py")) in floor
        for name in sorted(run_time_imports(path))
        if name.startswith("translate.") and (other := name.split(".")[1]) in floor
        if other != room and floor[other] >= floor[room]
    ]
    assert upwards == []


def test_tests_are_under_tests() -> None:
    elsewhere = [
        path
        for path in sources()
        if path.name.startswith("test_") or path.name.endswith("_test.py") or path.name == "conftest.py"
        if ROOT / "tests" not in path.parents
    ]
    assert elsewhere == []


def test_files_are_short() -> None:
    long = {
        path.relative_to(ROOT).as_posix()
        for path in sources()
        if path.read_text(encoding="utf-8").count("\n") > 400 and ROOT / "tests" not in path.parents
    }
    assert not long


def test_the_core_knows_no_codec() -> None:
    for path in CORE.rglob("*.py"):
        assert not any(name.startswith("translate_codecs") for name in imported(path)), path


@pytest.mark.parametrize("path", sorted(CODECS.rglob("*.py")), ids=lambda path: path.relative_to(CODECS).as_posix())
def test_no_codec_imports_another(path: Path) -> None:
    ours = {name.split(".")[1] for name in imported(path) if name.startswith("translate_codecs.")}
    assert ours <= {path.relative_to(CODECS).parts[0]}


def test_the_public_names_are_pinned() -> None:
    assert sorted(translate.__all__) == sorted(NAMES.split())
    assert all(hasattr(translate, name) for name in NAMES.split())
    assert dir(translate) == sorted(NAMES.split())


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == translate.__version__
    assert f"## [{translate.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_wheel_holds_both_packages(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = (archive.read(name).decode() for name in names if name.endswith("/entry_points.txt"))
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"translate", "translate_codecs"}
    assert {"translate/py.typed", "translate_codecs/py.typed"} <= set(names)
    assert not any("__pycache__" in name or "/test_" in name for name in names)
    here = {path.relative_to(ROOT).as_posix() for path in CORE.rglob("*.py")}
    here |= {path.relative_to(ROOT / "codecs").as_posix() for path in CODECS.rglob("*.py")}
    assert here <= set(names)
    folder = ROOT / "tests" / "vectors"
    vectors = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {f"translate/conformance/vectors/{name}" for name in vectors} <= set(names), "the command needs them"
    config = ConfigParser()
    config.read_string(entry_points)
    assert dict(config["console_scripts"]) == dict.fromkeys(("translate-streams", "tstream"), "translate.cli:main")
    assert dict(config["translate.codecs"]) == {
        name: f"translate_codecs.{name.replace('-', '_')}:CODEC"
        for name in (
            *("unievent", "gateway", "anthropic", "openai-chat", "openai-responses"),
            *("gemini", "gemini-interactions", "events"),
        )
    }


def test_the_sdist_holds_what_it_takes_to_build_and_test(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    here = {path.relative_to(ROOT).as_posix() for path in sources()}
    assert here <= names
    pages = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "docs/carry.md"}
    assert {"pyproject.toml", "PKG-INFO", *pages} <= names
    assert not any("__pycache__" in name or name.startswith((".venv", "build/", "dist/")) for name in names)


def test_the_public_interface_is_as_it_was_decided_on() -> None:
    assert public_api() == PINNED.read_text(encoding="utf-8"), "`python -m tests.public_api` writes it anew"


def test_adapters_import_nothing_but_the_core() -> None:
    others = ["httpx", "httpx2", "starlette", "fastapi", "uvicorn", "prometheus_client", "opentelemetry", "trio"]
    code = f"import sys, translate.adapters, translate.cli; print(*sorted(sys.modules.keys() & set({others})))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "codecs")])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60, check=True)
    assert done.stdout.strip() == b""


def test_nothing_tells_to_install_a_distribution_that_is_not_published() -> None:
    """Whoever registers the name would get those who follow: until it is ours, commands are for a checkout."""
    asked = re.compile(r"(?:install|add|uvx|pipx run)\s+[^\n`]*?(?<![\w./-])translate[-_]streams\b", re.IGNORECASE)
    folders = ("translate", "codecs", "docs", "examples", "benchmarks", "tests")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".js")]
    paths = [path for path in [*paths, *ROOT.glob("*.md")] if path != Path(__file__)]
    texts = [(path, path.read_text(encoding="utf-8")) for path in paths]
    assert len(texts) > 300
    assert [(path.name, found[0]) for path, text in texts if (found := asked.search(text))] == []
    for wrong in ('install "translate-streams[logs]"', "install\n'translate-streams'", "uv add translate-streams"):
        assert asked.search(wrong)
