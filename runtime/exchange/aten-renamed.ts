// ATen's operators that are a function here under another name, and the rules by which one name follows from another.

/** What ATen calls it, and what the function is called here. */
const RENAMED: Readonly<Record<string, string>> = {
  __and__: "bitwise_and",
  __or__: "bitwise_or",
  __xor__: "bitwise_xor",
  __lshift__: "bitwise_left_shift",
  __rshift__: "bitwise_right_shift",
  __iand__: "bitwise_and_",
  __ior__: "bitwise_or_",
  __ixor__: "bitwise_xor_",
  __ilshift__: "bitwise_left_shift_",
  __irshift__: "bitwise_right_shift_",
  _cast_Byte: "byte",
  _cast_Char: "char",
  _cast_Double: "double",
  _cast_Float: "float",
  _cast_Half: "half",
  _cast_Int: "int",
  _cast_Long: "long",
  _cast_Short: "short",
  _euclidean_dist: "cdist",
  _is_all_true: "all",
  _is_any_true: "any",
  _logcumsumexp: "logcumsumexp",
  _stack: "stack",
  lift: "alias",
  log_sigmoid: "logsigmoid",
};

/**
 * The names under which an operator may be found beside its own, the likeliest first: another name of the same; what a
 * copy copies (`expand_copy`); what is done in place here and to a copy there (`uniform`, `uniform_`), or the other way
 * round.  `changes`: whether it is the argument that becomes the result, or a copy of it.
 */
export interface OtherName {
  readonly name: string;
  readonly changes: "argument" | "copy" | null;
}

export function otherNames(name: string): OtherName[] {
  const out: OtherName[] = [];
  if (Object.hasOwn(RENAMED, name)) out.push({ name: RENAMED[name]!, changes: null });
  if (/[^_]_$/.test(name)) out.push({ name: name.slice(0, -1), changes: "argument" });
  else {
    if (name.endsWith("_functional")) out.push({ name: `${name.slice(0, -"_functional".length)}_`, changes: "copy" });
    if (name.endsWith("_copy")) out.push({ name: name.slice(0, -"_copy".length), changes: "copy" });
    out.push({ name: `${name}_`, changes: "copy" });
  }
  return out;
}
