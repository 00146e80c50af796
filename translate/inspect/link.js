// The state of the playground as the fragment of its address, which no browser sends to a server.
const link = (() => {
  const LONGEST = 300_000; // characters: browsers and chats cut longer addresses

  async function through(bytes, stream, limit) {
    const writer = stream.writable.getWriter(), reader = stream.readable.getReader(), pieces = [];
    const written = writer.write(bytes).then(() => writer.close());
    written.catch(() => {});
    let size = 0;
    for (let next; !(next = await reader.read()).done; pieces.push(next.value)) {
      if ((size += next.value.length) > limit) { await reader.cancel(); throw new RangeError("too long"); }
    }
    await written;
    return new Uint8Array(await new Blob(pieces).arrayBuffer());
  }

  async function packed(text) {
    const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"), LONGEST);
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }

  // Raises where it is no text that was packed, or a longer one than the page takes.
  async function unpacked(code, limit) {
    const binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(Uint8Array.from(binary, (char) => char.charCodeAt(0)), new DecompressionStream("deflate-raw"), limit);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  }

  const read = () => new URLSearchParams(location.hash.slice(1));

  function write(state) {
    const given = Object.entries(state).filter(([, value]) => value !== "" && value != null && value !== false);
    const fragment = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    if (`#${fragment}` !== location.hash) history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname);
  }

  return { packed, unpacked, read, write };
})();
