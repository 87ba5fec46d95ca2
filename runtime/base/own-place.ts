// Which lines of a stack are the package's own: those of its folder, or of the one file that it was bundled into.

/**
 * The modules that ask, or a file that Node's entries share (buildtools/package.py).  No folder of a name that programs
 * have, too: one may be bundled into its own `runtime/`.
 */
const OWN = /(runtime\/(base\/errors|tools\/memory-history)|in-node\/[\w/-]+)\.[jt]s(\?.*)?$/;

/** The package's folder, by the file of a line of it; that file where the package was bundled. */
export const ownPlace = (file: string): string => file.replace(OWN, "");
