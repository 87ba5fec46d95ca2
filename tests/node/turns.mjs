// Whose turn it is (tests/turns.py says why, and hands it on): EVERY=COUNT:FIRST is one of so many, from that one on.
export const [every, first] = (process.env.EVERY ?? "1:0").split(":").map(Number);

/** Those of a list whose turn it is. */
export const ofTurn = (list) => list.filter((_, n) => n % every === first);
