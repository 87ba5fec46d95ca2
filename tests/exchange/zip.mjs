// Archives with other contents: their entries are read and written anew, stored.
import { unzipSync, zipSync } from "fflate";

/** The archive `bytes` with each entry replaced by what `change(path, content)` gives. */
export const zip = (bytes, change) =>
  zipSync(
    Object.fromEntries(Object.entries(unzipSync(bytes)).map(([path, content]) => [path, change(path, content)])),
    {
      level: 0,
    },
  );
