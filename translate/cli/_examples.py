"""Two examples of each command, as its help shows them."""

from __future__ import annotations

from collections.abc import Iterable

EXAMPLES = {
    "convert": (
        "translate-streams convert turn.sse --to gateway-sse",
        "curl -sN $URL | translate-streams convert --from gateway-sse --to unievent-jsonl",
    ),
    "stats": (
        "translate-streams stats logs/",
        "translate-streams stats 'logs/*.jsonl.gz' --to gateway --json",
    ),
    "inspect": (
        "translate-streams inspect turn.sse",
        "translate-streams inspect turn.sse --to anthropic-sse --html turn.html",
    ),
    "check": (
        "translate-streams check turn.sse",
        "translate-streams check turn.sse --from openai-chat",
    ),
    "assemble": (
        "translate-streams assemble turn.sse --to anthropic",
        "curl -sN $URL | translate-streams assemble --to unievent",
    ),
    "diff": (
        "translate-streams diff turn.sse turn.jsonl",
        "translate-streams diff --all --json a.sse b.sse",
    ),
    "formats": (
        "translate-streams formats",
        "translate-streams formats anthropic gemini",
    ),
    "serve": (
        "translate-streams serve --upstream http://127.0.0.1:9000 --from gateway-sse --to unievent-sse",
        "translate-streams serve --upstream http://127.0.0.1:9000 --server openai-chat --client anthropic",
    ),
    "playground": (
        "translate-streams playground --open",
        "translate-streams playground --port 8000",
    ),
    "help": (
        "translate-streams help convert",
        "translate-streams help --man | man -l -",
    ),
    "completion": (
        "translate-streams completion bash > ~/.local/share/bash-completion/completions/translate-streams",
        "translate-streams completion fish > ~/.config/fish/completions/translate-streams.fish",
    ),
    "conformance": (
        "translate-streams conformance",
        "translate-streams conformance --only gateway -- my-translator --from {from} --to {to}",
    ),
}


def examples(command: str) -> str:
    """Those of a command, before what else ends its help."""
    return _listed(EXAMPLES[command])


def overview() -> str:
    """One of each command, but for those that help."""
    return _listed(found[0] for name, found in EXAMPLES.items() if name not in ("help", "completion"))


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(["examples:", *(f"  {line}" for line in lines), "", ""])
