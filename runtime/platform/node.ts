// What only Node, Bun and Deno have.  Imported when it is needed, and only where there is such a runtime.  Bundlers for
// pages put elsewhere.ts in its place (`browser` in package.json), so that no bundle for a page names a module of Node.

// @ts-expect-error: nothing else here knows types of Node
export const fileSystem = (): Promise<unknown> => import("node:fs/promises");
// @ts-expect-error: as above
export const paths = async (): Promise<unknown> => ({ ...(await import("node:url")), ...(await import("node:path")) }); // `resolve` is the path's
// @ts-expect-error: as above
export const hashes = (): Promise<unknown> => import("node:crypto");

/**
 * The package `webgpu`; rejects where it is not installed.  Programs have it or not, so that a bundler for Node is not
 * to look for it.
 */
export const webgpu = (): Promise<unknown> => {
  const name = "webgpu";
  return import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name);
};
