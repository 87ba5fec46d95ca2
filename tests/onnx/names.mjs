// The operators of ONNX that the built package knows: {domain: [name, …]} as JSON.
import { operatorNames } from "../../dist/runtime/onnx/operators.js";

const names = operatorNames();
names[""].push("Constant"); // a value, which is taken when a model is read
console.log(JSON.stringify(names));
