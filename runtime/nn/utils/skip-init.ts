// Modules without starting values, for weights that are loaded.

import { TypeMismatchError, describe } from "../../base/errors.js";
import { isOptions } from "../../base/named-arguments.js";
import { defaultDevice, registerDevice } from "../../devices/device.js";
import { meta } from "../../devices/meta-device.js";
import { Module } from "../module.js";

/** A class of modules as it is called or constructed. */
export interface ModuleMaker<A extends unknown[], M extends Module> {
  new (...args: A): M;
}

/**
 * A module of this class whose parameters and buffers have undefined values: it is to be loaded.
 *
 * @param module_cls a class of modules
 * @param args what it is made of
 *
 * @example
 * torch.nn.utils.skip_init(torch.nn.Linear, 3, 2).weight.shape  // [2, 3]
 */
export function skip_init<A extends unknown[], M extends Module>(module_cls: ModuleMaker<A, M>, ...args: A): M {
  if (typeof module_cls !== "function" || !(module_cls.prototype instanceof Module))
    throw new TypeMismatchError(`skip_init: Expected a Module; got ${describe(module_cls)}`);
  const last = args[args.length - 1],
    options = isOptions(last) ? last : {},
    places = isOptions(last) ? args.slice(0, -1) : args,
    device = (options.device as string | null | undefined) ?? defaultDevice();
  registerDevice(meta); // known by its name in bundles, too
  const made = new module_cls(...([...places, { ...options, device: meta }] as unknown as A));
  return made.to_empty({ device });
}
