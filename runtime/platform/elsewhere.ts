// In node.ts's place where there is no Node: see there.

const absent = (): Promise<unknown> =>
  Promise.reject(new Error("this program was bundled for pages, which have no modules of Node"));

export { absent as fileSystem, absent as hashes, absent as paths, absent as webgpu };
