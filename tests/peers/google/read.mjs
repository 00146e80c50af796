// Reads streams as Google's own library for JavaScript does: a line of standard input names a format, and holds a stream
// in base64; a line of output is all that the library hands on, or what it throws.
import { createInterface } from "node:readline";
import { GoogleGenAI } from "@google/genai";

const sizes = process.argv.slice(2).map(Number);

function* cut(data) {
  for (let at = 0, turn = 0; at < data.length; at += sizes[turn++ % sizes.length]) {
    yield data.subarray(at, at + sizes[turn % sizes.length]);
  }
}

async function stream(format, client) {
  if (format === "gemini") return client.models.generateContentStream({ model: "m", contents: "?" });
  return client.interactions.create({ model: "m", input: "?", stream: true });
}

for await (const line of createInterface({ input: process.stdin })) {
  const [format, data] = line.split(" ");
  const head = { status: 200, headers: { "content-type": "text/event-stream" } };
  globalThis.fetch = async () => new Response(ReadableStream.from(cut(Buffer.from(data, "base64"))), head);
  const units = [];
  let error = null;
  try {
    for await (const unit of await stream(format, new GoogleGenAI({ apiKey: "none" }))) {
      const { sdkHttpResponse, ...rest } = unit;
      units.push(rest);
    }
  } catch (caught) {
    error = String(caught.message ?? caught);
  }
  process.stdout.write(JSON.stringify({ units, error }) + "\n");
}
