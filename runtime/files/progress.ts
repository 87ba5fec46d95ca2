// How far the reading of a file is.

/** How far something is: bytes of a file, batches of a pass through data. */
export interface Progress {
  loaded: number;
  /** How many there are in all; null where nobody says. */
  total: number | null;
}

export type Report = ((progress: Progress) => void) | null | undefined;

/** Takes how many bytes came, and reports.  What is read twice, as a file's head is, makes no more than there are. */
export function counting(total: number, report: Report): (count: number) => void {
  let loaded = 0;
  return (count) => {
    loaded = Math.min(loaded + count, total);
    report?.({ loaded, total });
  };
}
