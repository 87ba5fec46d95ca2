// Reads a file beside a program, in Node and in a page.

/** The bytes at an address. */
export async function read(address) {
  if (address.protocol === "file:") return (await import("node:fs/promises")).readFile(address);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}
