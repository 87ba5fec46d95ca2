// How far the reading of a file is.

/** How far something is: bytes of a file, batches of a pass through data. */
export interface Progress {
  loaded: number;
  /** How many there are in all; null where nobody says. */
  total: number | null;
}

export type Report = ((progress: Progress) => void) | null | undefined;

/** A bar over the files of one loading: it never goes back, and is full once, when all that was loaded is there. */
export class Loading {
  private readonly files: Progress[] = [];
  private share = 0;

  constructor(private readonly report: Report) {}

  /** What one of its files reports to. */
  file(): Report {
    const { files, report } = this;
    if (!report) return null;
    const index = files.push({ loaded: 0, total: 0 }) - 1;
    return (progress) => {
      files[index] = progress;
      const loaded = files.reduce((n, file) => n + file.loaded, 0),
        total = files.reduce<number | null>(
          (n, file) => (n === null || file.total === null ? null : n + file.total),
          0,
        ),
        share = total === null ? 0 : loaded / total;
      if (share < this.share || share >= 1) return;
      this.share = share;
      report({ loaded, total });
    };
  }

  /** All its files, of so many bytes together, are read. */
  done(size: number): void {
    this.report?.({ loaded: size, total: size });
  }
}

/** Takes how many bytes came, and reports.  What is read twice, as a file's head is, makes no more than there are. */
export function counting(total: number, report: Report): (count: number) => void {
  let loaded = 0;
  return (count) => {
    loaded = Math.min(loaded + count, total);
    report?.({ loaded, total });
  };
}
