// Reads server-sent events from standard input, cut into pieces of the sizes given, and writes [name, data] a line.
import { createParser } from "eventsource-parser";

const sizes = process.argv.slice(2).map(Number);
const decoder = new TextDecoder();
const parser = createParser({
  onEvent: ({ event, data }) => process.stdout.write(JSON.stringify([event ?? "message", data]) + "\n"),
  onError: (error) => {
    throw error;
  },
});

let turn = 0;
for await (const chunk of process.stdin) {
  for (let at = 0; at < chunk.length; ) {
    const end = at + (sizes[turn++ % sizes.length] ?? chunk.length);
    parser.feed(decoder.decode(chunk.subarray(at, end), { stream: true }));
    at = end;
  }
}
