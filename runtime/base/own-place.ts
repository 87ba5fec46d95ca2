// Which lines of a stack are the package's own: those of its folder, or of the one file that it was bundled into.

/** A module of the package, or one of the files that Node's entries share (buildtools/package.py). */
const OWN = /(?:runtime|in-node)\/[\w/-]+\.[jt]s(?:\?.*)?$/;

/** The package's folder, by the file of a line of it; that file where the package was bundled. */
export const ownPlace = (file: string): string => file.replace(OWN, "");
