// Reads streams as the Vercel AI SDK does: a line of standard input names a provider, and holds a stream in base64; a
// line of output is the message that its parts add up to.
import { createInterface } from "node:readline";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;
const sizes = process.argv.slice(2).map(Number);
const any = tool({ inputSchema: jsonSchema({ type: "object" }) });
const tools = { find_concert: any, get_weather: any };

function* cut(data) {
  for (let at = 0, turn = 0; at < data.length; at += sizes[turn++ % sizes.length]) {
    yield data.subarray(at, at + sizes[turn % sizes.length]);
  }
}

function model(provider, body) {
  const head = { status: 200, headers: { "content-type": "text/event-stream" } };
  const options = {
    apiKey: "none",
    baseURL: "http://127.0.0.1:9/v1",
    fetch: async () => new Response(ReadableStream.from(cut(body)), head),
  };
  if (provider === "anthropic") return createAnthropic(options)("m");
  if (provider === "openai-responses") return createOpenAI(options).responses("m");
  if (provider === "gemini") return createGoogleGenerativeAI(options)("m");
  return createOpenAICompatible({ ...options, name: "peer", includeUsage: true })("m");
}

for await (const line of createInterface({ input: process.stdin })) {
  const [provider, data] = line.split(" ");
  const said = { thinking: "", signature: "", text: "", calls: [], errors: [] };
  const found = streamText({
    model: model(provider, Buffer.from(data, "base64")),
    prompt: "?",
    tools,
    maxRetries: 0,
    onError: () => {},
  });
  for await (const part of found.fullStream) {
    if (part.type === "reasoning-delta") said.thinking += part.text;
    if (part.type === "reasoning-delta") said.signature += part.providerMetadata?.anthropic?.signature ?? "";
    if (part.type === "text-delta") said.text += part.text;
    if (part.type === "tool-call") said.calls.push([part.toolCallId, part.toolName, part.input]);
    if (part.type === "error") said.errors.push(String(part.error?.message ?? part.error?.error?.message ?? JSON.stringify(part.error)));
    if (part.type === "finish") {
      said.reason = part.finishReason;
      said.counts = [part.totalUsage.inputTokens, part.totalUsage.outputTokens];
    }
  }
  process.stdout.write(JSON.stringify(said) + "\n");
}
