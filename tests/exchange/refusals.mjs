// Calls that must be refused, each with an error of the package's own that says why.

const TYPED = ["FileError", "OpError", "TypeMismatchError"];

/** A function that puts into `results` null where `act` is refused with all of `words` in its message, else what came. */
export const refusing = (results) =>
  async function refuses(name, act, ...words) {
    try {
      await act();
      results[name] = "it was accepted";
    } catch (error) {
      const missing = words.filter((word) => !error.message.includes(word)),
        right = TYPED.includes(error.name) && missing.length === 0;
      results[name] = right ? null : `${error.name}: ${error.message} (without ${missing})`;
    }
  };
