// What codegen/kernels/computed.py is in Python: host formulas from expressions of loop programs, and back.

import { type Scope, expression } from "../../codegen/loop_expressions.js";
import { type Binary, Call, Cast, Constant, type E, Select, Symbol, Unary } from "../../dsl/expression.js";
import type { Fn } from "../../host/model.js";
import * as nodes from "../../host/nodes.js";
import { DIVISIONS } from "../../host/written.js";
import { hostFormula, nodeOf } from "./host-formula.js";

const SIGNS: Readonly<Record<string, string>> = { and: "&&", or: "||", not: "!" };
const NOTHING: Scope = { packs: new Set(), reads: [], locals: [] };

function node(e: E): nodes.Node {
  if (e instanceof Constant) return new nodes.Constant(e.kind, e.value);
  if (e instanceof Symbol) return new nodes.Option(e.name);
  if (e instanceof Unary) return new nodes.Unary(SIGNS[e.operator] ?? e.operator, node(e.operand));
  if (e instanceof Cast) return node(e.operand);
  if (e instanceof Select) return new nodes.Select(node(e.condition), node(e.yes), node(e.no));
  if (e instanceof Call) return new nodes.Apply(e.name, e.operands.map(node));
  const { operator, left, right } = e as Binary;
  return DIVISIONS[operator]
    ? new nodes.Apply(DIVISIONS[operator], [node(left), node(right)])
    : new nodes.Binary(SIGNS[operator] ?? operator, node(left), node(right));
}

/** The value of an expression over sizes and options, which an environment says. */
export const computed = (e: E | null): Fn | null => e && hostFormula(() => node(e));

/** The expression that a host formula stands for. */
export const expression_of = (f: Fn | null): E | null => f && expression(nodeOf(f), NOTHING);
