// What only Node, Bun and Deno have.  package.json's `imports` lead here there, and to elsewhere.ts for pages, whose bundles so
// name no module of Node.  Imported when it is needed, and only where there is such a runtime: a page without a bundler knows no `#platform`.

// @ts-expect-error: nothing else here knows types of Node
export const fileSystem = (): Promise<unknown> => import("node:fs/promises");
// @ts-expect-error: as above
export const paths = async (): Promise<unknown> => ({ ...await import("node:url"), ...await import("node:path") });  // `resolve` is the path's

/** The package `webgpu`; rejects where it is not installed.  Programs have it or not, so that a bundler for Node is not to look for it. */
export const webgpu = (): Promise<unknown> => {
  const name = "webgpu";
  return import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name);
};
